//! The matrix of repositories.

use super::{patch, refused, seen, since, told, wanted};
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_engine::git::Git;
use countersign_engine::workspace::{Change, ChangeError, ChangeLimits, ChangeWanted, Shape};
use countersign_testkit::Repository;
use std::os::unix::fs::{PermissionsExt, symlink};

fn started() -> (Repository, String) {
    let repository = Repository::new();
    repository.write("kept.md", "kept\n").write("edited.md", "one\ntwo\n").write("gone.md", "gone\n");
    repository.write("moved.md", "a\nb\nc\nd\ne\nf\n").write("run.sh", "echo\n");
    let base = repository.commit("first");
    (repository, base)
}

/// RUN-1.
#[tokio::test]
async fn run_1_committed_staged_unstaged_and_untracked_work_is_one_change() {
    let (repository, base) = started();
    repository.write("committed.md", "1\n").commit("more");
    repository.write("staged.md", "2\n").git(["add", "staged.md"]);
    repository.write("edited.md", "one\n2\n").write("new/untracked.md", "3\n4\n").remove("gone.md");
    std::fs::rename(repository.path("moved.md"), repository.path("new/name.md")).unwrap();
    std::fs::set_permissions(repository.path("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    let change = since(&repository, &base).await;
    assert_eq!(
        told(&change),
        [
            "added committed.md +1 -0",
            "modified edited.md +1 -1",
            "deleted gone.md +0 -1",
            "renamed new/name.md from moved.md +0 -0",
            "added new/untracked.md +2 -0",
            "mode changed run.sh +0 -0",
            "added staged.md +1 -0",
        ]
    );
    assert!(patch(&change, "run.sh").contains("old mode 100644\nnew mode 100755\n"));
    assert!(patch(&change, "new/name.md").contains("rename from moved.md\nrename to new/name.md\n"));
}

#[tokio::test]
async fn an_empty_change_is_an_error_of_its_own() {
    let (repository, _) = started();
    let base = repository.write(".gitignore", "ignored\n").commit("ignore");
    repository.write("ignored", "x");
    let error = refused(&repository, &wanted(Some(&base))).await;
    assert!(matches!(&error, ChangeError::Empty { .. }), "{error}");
    assert_eq!(error.outcome(), Outcome::NoVerdict(NoVerdict::EmptyChange));
    assert_eq!(error.outcome().exit_code(), 4);
}

#[tokio::test]
async fn before_the_first_commit_everything_is_new() {
    let repository = Repository::new();
    assert!(matches!(refused(&repository, &wanted(None)).await, ChangeError::Empty { base: None, .. }));
    repository.write("a.md", "a\n").write("b.md", "b\n").git(["add", "b.md"]);
    let change = seen(repository.root(), &wanted(None)).await;
    assert_eq!(told(&change), ["added a.md +1 -0", "added b.md +1 -0"]);
    let git = Git::at(repository.root());
    assert_eq!(git.head().await.unwrap(), None);
    assert_eq!(git.default_branch(None).await.unwrap().unwrap().name, "main");
}

#[tokio::test]
async fn detached_heads_and_other_object_formats_make_no_difference() {
    let (repository, base) = started();
    repository.git(["checkout", "-q", "--detach"]);
    repository.write("a.md", "a\n").commit("detached");
    assert_eq!(told(&since(&repository, &base).await), ["added a.md +1 -0"]);
    let other = Repository::new();
    std::fs::remove_dir_all(other.path(".git")).unwrap();
    other.git(["init", "-q", "--object-format=sha256"]);
    other.write("a.md", "a\n");
    assert_eq!(told(&seen(other.root(), &wanted(None)).await), ["added a.md +1 -0"]);
}

#[tokio::test]
async fn a_shallow_clone_has_the_change_or_says_what_it_lacks() {
    let (repository, base) = started();
    repository.write("a.md", "a\n").commit("second");
    let clone = repository.cloned(&["--depth", "1"]);
    clone.write("b.md", "b\n");
    let head = clone.git(["rev-parse", "HEAD"]);
    assert_eq!(told(&since(&clone, &head).await), ["added b.md +1 -0"]);
    let error = refused(&clone, &wanted(Some(&base))).await;
    assert!(error.to_string().contains(&base), "{error}");
    assert_eq!(error.outcome(), Outcome::Usage);
    let git = Git::at(clone.root());
    assert_eq!(git.commit(&base).await.unwrap(), None);
}

/// Contents that are not there are fetched, and compared with their ids like all others.
#[tokio::test]
async fn issue_18_a_partial_clone_has_the_change() {
    let (repository, base) = started();
    repository.write("edited.md", "one\n2\n").commit("second");
    repository.git(["config", "uploadpack.allowFilter", "true"]);
    repository.git(["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let clone = repository.cloned(&["--filter=blob:none"]);
    let missing = clone.git(["rev-list", "--objects", "--missing=print", &base]);
    assert!(missing.lines().any(|line| line.starts_with('?')), "{missing}");
    clone.write("edited.md", "1\n2\n");
    let change = since(&clone, &base).await;
    assert_eq!(told(&change), ["modified edited.md +2 -2"]);
    assert!(patch(&change, "edited.md").contains("-one\n-two\n+1\n+2\n"));
}

/// Where the disk tells letters apart, a setting does not hide the second of two names. A disk that does not is not imitated.
#[tokio::test]
async fn issue_18_names_that_differ_by_case_are_two_files() {
    let (repository, _) = started();
    repository.git(["config", "core.ignoreCase", "true"]);
    let base = repository.write("README.md", "one\n").commit("upper");
    repository.write("readme.md", "BAD\n");
    let is_told_apart = std::fs::read(repository.path("README.md")).unwrap() == b"one\n";
    let expected = if is_told_apart { "added readme.md +1 -0" } else { "modified README.md +1 -1" };
    assert_eq!(told(&since(&repository, &base).await), [expected]);
}

#[tokio::test]
async fn a_linked_worktree_has_a_change_of_its_own() {
    let (repository, base) = started();
    let linked = repository.beside("linked");
    repository.git(["worktree", "add", "-q", "-b", "task/one", linked.to_str().unwrap()]);
    repository.write("main.md", "x\n");
    std::fs::write(linked.join("task.md"), "y\n").unwrap();
    assert_eq!(told(&seen(&linked, &wanted(Some(&base))).await), ["added task.md +1 -0"]);
    assert_eq!(told(&since(&repository, &base).await), ["added main.md +1 -0"]);
    let worktrees = Git::at(repository.root()).worktrees().await.unwrap();
    assert_eq!(worktrees.len(), 2);
    assert_eq!((worktrees[1].path.clone(), worktrees[1].branch.as_deref()), (linked, Some("task/one")));
    assert_eq!(worktrees[1].head.as_deref(), Some(base.as_str()));
}

#[tokio::test]
async fn a_merge_in_progress_is_shown_as_the_files_are() {
    let (repository, base) = started();
    repository.git(["checkout", "-q", "-b", "other"]);
    repository.write("edited.md", "other\n").commit("other");
    repository.git(["checkout", "-q", "main"]);
    repository.write("edited.md", "main\n").commit("main");
    assert!(!repository.try_git(["merge", "-q", "other"]).0);
    let change = since(&repository, &base).await;
    assert!(patch(&change, "edited.md").contains("+<<<<<<< HEAD\n+main\n+=======\n+other\n+>>>>>>> other\n"));
}

#[tokio::test]
async fn attack_18_the_files_of_a_submodule_are_judged() {
    let (library, _) = started();
    library.write("a.md", "one\n").commit("first");
    let (repository, _) = started();
    let url = library.root().to_str().unwrap();
    repository.git(["submodule", "add", "-q", url, "lib"]);
    let base = repository.commit("with a submodule");
    // What a file of the judged work says about submodules does not hide one.
    repository.git(["config", "-f", ".gitmodules", "submodule.lib.ignore", "all"]);
    library.write("more.md", "x\n").commit("second");
    repository.git(["-C", "lib", "pull", "-q"]);
    let lib = |change: &Change| -> Vec<String> {
        told(change).into_iter().filter(|line| line.contains("lib/")).collect()
    };
    assert_eq!(lib(&since(&repository, &base).await), ["added lib/more.md +1 -0"], "another commit");
    repository.write("lib/a.md", "two\n");
    // What is committed would be the commit of the submodule, and not what is on disk.
    let error = refused(&repository, &wanted(Some(&base))).await.to_string();
    assert!(error.contains("the submodule `lib` has commit"), "{error}");
    repository.git(["-C", "lib", "reset", "-q", "--hard", "HEAD~1"]);
    repository.write("lib/a.md", "two\n");
    assert_eq!(lib(&since(&repository, &base).await), ["modified lib/a.md +1 -1"], "other files");
    // A pointer that is only in the index or in a commit.
    repository.git(["-C", "lib", "reset", "-q", "--hard"]);
    let other = library.write("more.md", "BAD\n").commit("third");
    repository.git(["-C", "lib", "fetch", "-q"]);
    repository.git(["update-index", "--cacheinfo", &format!("160000,{other},lib")]);
    let error = refused(&repository, &wanted(Some(&base))).await.to_string();
    assert!(error.contains(&other), "{error}");
    repository.git(["reset", "-q"]);
    // A folder in place of the submodule.
    std::fs::remove_file(repository.path("lib/.git")).unwrap();
    repository.write("lib/new.md", "BAD\n");
    assert_eq!(lib(&since(&repository, &base).await), ["added lib/new.md +1 -0"], "a plain folder");
    std::fs::remove_dir_all(repository.path("lib")).unwrap();
    std::fs::create_dir(repository.path("lib")).unwrap();
    assert_eq!(lib(&since(&repository, &base).await), [""; 0], "not checked out");
}

/// SVC-4.
#[tokio::test]
async fn svc_4_the_default_branch_is_found_whatever_it_is_called() {
    let bare = |name: &str| {
        let repository = Repository::on(name);
        repository.commit("first");
        repository
    };
    let name = |repository: &Repository, configured: Option<&'static str>| {
        let git = Git::at(repository.root());
        async move { git.default_branch(configured).await.unwrap().map(|branch| (branch.name, branch.reference)) }
    };
    let found = |name: &str| Some((name.to_owned(), format!("refs/heads/{name}")));
    let trunk = bare("trunk");
    assert_eq!(name(&trunk, None).await, found("trunk"), "the current one");
    let clone = trunk.cloned(&[]);
    clone.git(["checkout", "-q", "-b", "topic"]);
    assert_eq!(name(&clone, None).await, found("trunk"), "what the remote calls its own");
    clone.git(["branch", "-q", "-D", "trunk"]);
    assert_eq!(name(&clone, None).await, Some(("trunk".into(), "refs/remotes/origin/trunk".into())));
    let master = bare("master");
    master.git(["checkout", "-q", "-b", "topic"]);
    assert_eq!(name(&master, None).await, found("master"));
    master.git(["branch", "main"]);
    assert_eq!(name(&master, None).await, found("main"), "main before master");
    assert_eq!(name(&master, Some("topic")).await, found("topic"), "the configured one");
    assert_eq!(name(&master, Some("nowhere")).await, None);
    trunk.git(["checkout", "-q", "--detach"]);
    assert_eq!(name(&trunk, None).await, None);
}

/// SVC-4.
#[tokio::test]
async fn svc_4_the_base_is_where_the_work_left_the_default_branch() {
    let (repository, base) = started();
    repository.git(["checkout", "-q", "-b", "topic"]);
    repository.write("topic.md", "x\n").commit("topic");
    repository.git(["checkout", "-q", "main"]);
    repository.write("main.md", "x\n").commit("main");
    repository.git(["checkout", "-q", "topic"]);
    let git = Git::at(repository.root());
    assert_eq!(git.merge_base("HEAD", "main").await.unwrap().as_deref(), Some(base.as_str()));
    assert_eq!(told(&since(&repository, &base).await), ["added topic.md +1 -0"]);
    repository.git(["checkout", "-q", "--orphan", "alone"]);
    repository.commit("nothing in common");
    assert_eq!(git.merge_base("HEAD", "main").await.unwrap(), None);
}

#[tokio::test]
async fn links_are_links() {
    let (repository, base) = started();
    symlink("/etc/passwd", repository.path("link.md")).unwrap();
    repository.remove("gone.md");
    symlink("kept.md", repository.path("gone.md")).unwrap();
    let change = since(&repository, &base).await;
    assert_eq!(told(&change), ["type changed gone.md +1 -1", "added link.md +1 -0"]);
    assert!(change.files.iter().all(|file| file.shape == Shape::Link));
    assert!(patch(&change, "link.md").contains("new file mode 120000"));
    assert!(patch(&change, "link.md").ends_with("+/etc/passwd\n\\ No newline at end of file\n"));
}

#[tokio::test]
async fn bytes_are_kept_shown_replaced_or_named() {
    let (repository, base) = started();
    repository.write("crlf.txt", "a\r\nb\r\n").write("latin.txt", b"caf\xe9\n").write("empty.txt", "");
    repository.write("picture.png", b"\x89PNG\x00\x01\n\x02");
    let wide: Vec<u8> = "\u{feff}wide text\nBAD\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    repository.write("wide.txt", &wide);
    let change = since(&repository, &base).await;
    let wide = patch(&change, "wide.txt");
    assert!(
        wide.ends_with("[UTF-16, shown as text as it is now]\n@@ -0,0 +1,2 @@\n+wide text\n+BAD\n"),
        "{wide}"
    );
    assert!(patch(&change, "crlf.txt").ends_with("+a\r\n+b\r\n"));
    let latin = patch(&change, "latin.txt");
    assert!(latin.ends_with("+caf\\xe9\n[not UTF-8: other bytes are written as \\x and two digits]\n"));
    assert!(patch(&change, "picture.png").ends_with("+++ b/picture.png\n[binary: contents not shown]\n"));
    assert!(patch(&change, "empty.txt").contains("new file mode 100644"));
    // Other bytes that look the same are another change.
    let digest = |change: &super::Change, path: &str| {
        change.files.iter().find(|file| file.path == path).unwrap().digest.clone()
    };
    repository.write("latin.txt", b"caf\xe8\n").write("picture.png", b"\x89PNG\x00\x01\n\x03");
    let other = since(&repository, &base).await;
    assert_eq!(patch(&other, "latin.txt").lines().last(), latin.lines().last());
    for path in ["latin.txt", "picture.png"] {
        assert_ne!(digest(&change, path), digest(&other, path), "{path}");
    }
    assert_ne!(change.fingerprint, other.fingerprint);
}

#[tokio::test]
async fn a_project_in_a_folder_of_a_repository_has_its_own_change() {
    let (repository, base) = started();
    repository.write("outside.md", "x\n").write("project/inside.md", "x\n");
    let change = seen(&repository.path("project"), &wanted(Some(&base))).await;
    assert_eq!(told(&change), ["added inside.md +1 -0"]);
}

#[tokio::test]
async fn our_own_state_is_left_out_tracked_or_not() {
    let (repository, _) = started();
    let base = { repository.write("spec/.task-history.log", "1\n").commit("with a log") };
    repository.write("spec/.task-history.log", "2\n").write("spec/.executor-logs/a/b.log", "x\n");
    repository.write(".countersign/ledger.db", "x").write("spec/tasks.md", "- [ ] x\n");
    let left_out = [".countersign/**", "spec/.executor-*", "spec/.executor-*/**", "spec/.task-history.log"];
    let wanted = ChangeWanted {
        left_out: left_out.iter().map(|pattern| (*pattern).to_owned()).collect(),
        ..wanted(Some(&base))
    };
    let change = seen(repository.root(), &wanted).await;
    assert_eq!(told(&change), ["added spec/tasks.md +1 -0"]);
    repository.write("spec/.task-history.log", "3\n").write("spec/.executor-logs/a/b.log", "y\n");
    assert_eq!(seen(repository.root(), &wanted).await.fingerprint, change.fingerprint);
}

#[tokio::test]
async fn slow_five_thousand_files_are_one_change_with_a_summary_that_covers_all() {
    let (repository, base) = started();
    for n in 0..5000 {
        repository.write(format!("src/part{}/file{n}.rs", n % 50), format!("fn f{n}() {{}}\n"));
    }
    let change = since(&repository, &base).await;
    assert_eq!(change.files.len(), 5000);
    let summary = countersign_engine::workspace::summary(&change, 30 * 1024);
    assert!(summary.starts_with("5000 files changed, +5000 -0 lines\n"), "{summary}");
    assert!(summary.contains("- src/part7/: 100 files, +100 -0 lines\n"), "{summary}");
    assert!(summary.len() <= 30 * 1024);
    let limits = ChangeLimits { files_max: 4999, ..ChangeLimits::default() };
    let error = refused(&repository, &ChangeWanted { limits, ..wanted(Some(&base)) }).await;
    assert_eq!(error.outcome(), Outcome::NoVerdict(NoVerdict::TooLong));
}

#[tokio::test]
async fn slow_a_diff_of_200_mb_is_counted_and_hashed_and_not_held() {
    let (repository, base) = started();
    let line = format!("{}\n", "x".repeat(99));
    let text = line.repeat(2_100_000);
    repository.write("long.txt", &text);
    let change = since(&repository, &base).await;
    let long = &change.files[0];
    assert!(long.is_cut && long.patch_bytes > 200 * 1024 * 1024 && long.patch.len() < 31 * 1024);
    assert_eq!(long.added, 2_100_000);
    let said = format!("of {} bytes shown]\n", long.patch_bytes);
    assert!(long.patch.ends_with(&said) && long.patch.contains("[diff cut: "));
    // The last byte counts, though it is not shown.
    repository.write("long.txt", text[..text.len() - 2].to_owned() + "y\n");
    let other = since(&repository, &base).await;
    assert_eq!(
        long.patch.replace(&long.patch[..200], ""),
        other.files[0].patch.replace(&other.files[0].patch[..200], "")
    );
    assert_ne!(long.digest, other.files[0].digest);
}

/// The commit has pointers, and the disk what they point to.
#[tokio::test]
async fn attack_18_what_lfs_brought_is_no_change_and_everything_else_is() {
    let oid = "e91d8b6b4b4dcf9c5c5a0c1c7c1a5f4c3b2a190807060504030201000f0e0d0c";
    let pointer =
        |oid: &str| format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 6\n");
    let repository = Repository::new();
    let sha256 = "7811fa646c1db72163373a16ba2dd2b5878d9a7b1b7534ef42dc5f7e24ef06c4";
    repository
        .write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
        .write("same.bin", pointer(sha256))
        .write("other.bin", pointer(oid))
        .write("not-fetched.bin", pointer(sha256))
        .write("plain.txt", pointer(sha256));
    let base = repository.commit("first");
    repository.write("same.bin", "movie\n");
    assert!(matches!(refused(&repository, &wanted(Some(&base))).await, ChangeError::Empty { .. }));
    // Contents that no pointer of LFS names are shown, also where an index or other attributes speak for them.
    repository.write("other.bin", "movie\n").write("plain.txt", "movie\n");
    repository.git(["update-index", "--assume-unchanged", "other.bin"]);
    let expected = ["modified other.bin +1 -3", "modified plain.txt +1 -3"];
    assert_eq!(told(&since(&repository, &base).await), expected);
    repository.write(".gitattributes", "*.bin filter=lfs\n*.txt filter=lfs\n");
    assert_eq!(told(&since(&repository, &base).await)[1..], expected);
    std::fs::set_permissions(repository.path("same.bin"), PermissionsExt::from_mode(0o755)).unwrap();
    let seen = told(&since(&repository, &base).await);
    assert!(seen.iter().any(|line| line.starts_with("modified same.bin")), "{seen:?}");
}
