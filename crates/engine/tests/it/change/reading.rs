//! What git says in few words: status, and errors in its own.

use countersign_engine::git::{Git, GitError, Status};
use countersign_testkit::Repository;

#[tokio::test]
async fn status_tells_staged_unstaged_and_untracked_apart() {
    let repository = Repository::new();
    repository.write("a b.md", "1\n").write("b.md", "1\n").commit("first");
    repository.write("a b.md", "2\n").write("b.md", "2\n").write("new\nline", "x").git(["add", "b.md"]);
    let status = Git::at(repository.root()).status().await.unwrap();
    let seen: Vec<_> =
        status.iter().map(|entry| (entry.path.as_str(), entry.status, entry.is_staged)).collect();
    assert_eq!(
        seen,
        [
            ("a b.md", Status::Changed, false),
            ("b.md", Status::Changed, true),
            ("new\nline", Status::Untracked, false),
        ]
    );
}

#[tokio::test]
async fn errors_have_the_words_of_git() {
    let nowhere = tempfile::tempdir().unwrap();
    let error = Git::at(nowhere.path()).places().await.unwrap_err();
    assert!(error.to_string().starts_with("`git rev-parse` failed: fatal: not a git repository"), "{error}");
    let repository = Repository::new();
    let git = Git::at(repository.root());
    assert!(matches!(git.run(["no-such-command"]).await, Err(GitError::Failed { code: Some(1), .. })));
    // A name that reads like an option is a name.
    assert_eq!(git.commit("--help").await.unwrap(), None);
    let much = git.stream(["help", "-a"], 10, |_| Ok(())).await.unwrap_err();
    assert!(matches!(much, GitError::TooMuchOutput { limit_bytes: 10, .. }), "{much}");
    let late = git.within_seconds(0).run(["-c", "alias.wait=!sleep 600", "wait"]).await.unwrap_err();
    assert!(matches!(late, GitError::TimedOut { seconds: 0, .. }), "{late}");
}
