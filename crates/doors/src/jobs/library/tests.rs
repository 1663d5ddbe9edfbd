//! The library on a real disk.

use super::*;
use std::fs::{File, create_dir_all, remove_dir_all, remove_file, rename, write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn job_yml(name: &str) -> String {
    format!(
        "name: {name}\nversion: 1.0.0\nsummary: S\ncommon_job_info_provided_to_all_steps_at_runtime: C\nsteps:\n\
         - {{id: a, name: A, description: D, instructions_file: a.md, outputs: {{}}, reviews: []}}\n"
    )
}

/// A root with jobs; their files are an hour old, as they are in projects.
struct Disk(TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, text).unwrap();
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        File::options().write(true).open(path).unwrap().set_modified(hour_ago).unwrap();
        self
    }

    /// A job in a folder of jobs.
    fn job(&self, dir: &str, name: &str) -> &Self {
        self.write(&format!("{dir}/job.yml"), job_yml(name)).write(&format!("{dir}/a.md"), "Do it.")
    }

    fn library(&self) -> Library {
        Library::new(self.0.path(), self.0.path(), vec![])
    }
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.jobs.iter().map(|job| job.name.as_str()).collect()
}

/// The only error there is: whose, and what is said.
#[track_caller]
fn error(listing: &Listing) -> (String, String) {
    let [error] = listing.errors.as_slice() else { panic!("{listing:?}") };
    (error.job_name.clone(), error.problems.listed[0].message.clone())
}

const JOBS: &str = ".deepwork/jobs";

#[test]
fn jobs_are_found_by_folder_and_sorted_by_name() {
    let disk = Disk::new();
    assert!(names(&disk.library().look()).is_empty(), "a project need not have jobs");
    disk.job(&format!("{JOBS}/a"), "zebra")
        .job(&format!("{JOBS}/b"), "ape")
        .job(&format!("{JOBS}/.c"), "hidden");
    disk.write(&format!("{JOBS}/README.md"), "x").write(&format!("{JOBS}/empty/notes.md"), "x");
    let listing = disk.library().look();
    assert_eq!(names(&listing), ["ape", "zebra"]);
    assert_eq!(listing.jobs[0].dir, disk.path(&format!("{JOBS}/b")));
    assert!(listing.errors.is_empty() && listing.warnings.is_empty(), "{listing:?}");
}

#[test]
fn the_first_folder_of_a_name_wins() {
    let disk = Disk::new();
    disk.job(&format!("{JOBS}/one"), "own").job("more/one", "other").job("more/two", "second");
    disk.job("last/two", "third").job("last/three", "fourth");
    let list = std::env::join_paths([disk.path("more"), disk.path("last"), PathBuf::new()]).unwrap();
    let library = Library::new(disk.0.path(), disk.0.path(), folders_of(&list));
    assert_eq!(names(&library.look()), ["fourth", "own", "second"]);
    // A folder without a job takes no name, and one with a broken job does.
    remove_file(disk.path(&format!("{JOBS}/one/job.yml"))).unwrap();
    assert_eq!(names(&library.look()), ["fourth", "other", "second"]);
    disk.write(&format!("{JOBS}/one/job.yml"), "steps: [");
    let listing = library.look();
    assert_eq!(names(&listing), ["fourth", "second"]);
    assert_eq!(error(&listing).0, "one");
}

#[test]
fn two_jobs_of_one_name_are_a_mistake_of_the_second() {
    let disk = Disk::new();
    disk.job(&format!("{JOBS}/a"), "same").job(&format!("{JOBS}/b"), "same");
    let listing = disk.library().look();
    assert_eq!(listing.jobs[0].dir, disk.path(&format!("{JOBS}/a")));
    let (name, said) = error(&listing);
    assert_eq!(name, "b");
    assert!(said.ends_with("/a already has the name `same`"), "{said}");
    let place = &listing.errors[0].problems.listed[0].place;
    assert_eq!((place.line(), place.column()), (1, 7));
}

#[test]
fn what_did_not_change_is_not_read_again() {
    let disk = Disk::new();
    disk.job(&format!("{JOBS}/a"), "a").job(&format!("{JOBS}/b"), "b");
    let library = disk.library();
    let first = library.look();
    let again = library.look();
    assert!(first.jobs.iter().zip(&again.jobs).all(|(one, other)| Arc::ptr_eq(one, other)));
    disk.write(&format!("{JOBS}/b/a.md"), "Do this");
    let changed = library.look();
    assert!(Arc::ptr_eq(&first.jobs[0], &changed.jobs[0]));
    assert_eq!(changed.jobs[1].steps[0].instructions, "Do this");
}

#[test]
fn every_kind_of_change_is_seen() {
    let disk = Disk::new();
    let (job, file) = (format!("{JOBS}/a/job.yml"), format!("{JOBS}/a/a.md"));
    disk.job(&format!("{JOBS}/a"), "a");
    let library = disk.library();
    let instructions = || library.look().jobs.first().map(|job| job.steps[0].instructions.clone());
    assert_eq!(instructions().as_deref(), Some("Do it."));
    // Same size and same time of modification, in place and by renaming.
    disk.write(&file, "Do IT.");
    assert_eq!(instructions().as_deref(), Some("Do IT."));
    disk.write(&format!("{JOBS}/new"), "Do me.");
    rename(disk.path(&format!("{JOBS}/new")), disk.path(&file)).unwrap();
    assert_eq!(instructions().as_deref(), Some("Do me."));
    // Twice within the tick of a coarse clock.
    for text in ["Do 1x.", "Do 2x.", "Do 3x."] {
        write(disk.path(&file), text).unwrap();
        assert_eq!(instructions().as_deref(), Some(text));
    }
    remove_file(disk.path(&file)).unwrap();
    assert_eq!(error(&library.look()).1, "the instructions file `a.md` does not exist");
    disk.write(&file, "Do it.");
    assert_eq!(instructions().as_deref(), Some("Do it."));
    disk.write(&job, job_yml("b"));
    assert_eq!(names(&library.look()), ["b"]);
    remove_dir_all(disk.path(&format!("{JOBS}/a"))).unwrap();
    assert_eq!(instructions(), None);
    assert!(library.look().errors.is_empty());
}

#[test]
fn whatever_is_no_file_is_an_error_and_never_waited_for() {
    type Put = fn(&Path);
    let cases: [(Put, &str); 4] = [
        (|path| create_dir_all(path).unwrap(), "it is not a file"),
        (|path| pipe(path), "it is not a file"),
        (|path| symlink("/nowhere/at/all", path).unwrap(), "No such file"),
        (|path| write(path, vec![b' '; 1024 * 1024 + 1]).unwrap(), "larger than 1048576 bytes"),
    ];
    for (put, why) in cases {
        let disk = Disk::new();
        disk.job(&format!("{JOBS}/a"), "a").job(&format!("{JOBS}/b"), "b");
        let path = disk.path(&format!("{JOBS}/a/job.yml"));
        remove_file(&path).unwrap();
        put(&path);
        let listing = disk.library().look();
        assert_eq!(names(&listing), ["b"]);
        assert!(error(&listing).1.contains(why), "{why}: {listing:?}");
    }
}

#[test]
fn instructions_are_text_of_the_jobs_own_folder() {
    type Put = fn(&Path);
    let cases: [(Put, &str); 6] = [
        (|path| create_dir_all(path).unwrap(), "cannot be read: it is not a file"),
        (|path| pipe(path), "cannot be read: it is not a file"),
        (|path| symlink("../b/a.md", path).unwrap(), "is outside the job's folder"),
        (|path| symlink("/nowhere/at/all", path).unwrap(), "does not exist"),
        (|path| write(path, b"\xff\xfe").unwrap(), "is not UTF-8 text"),
        (|path| write(path, vec![b' '; 1024 * 1024 + 1]).unwrap(), "is larger than 1048576 bytes"),
    ];
    for (put, why) in cases {
        let disk = Disk::new();
        disk.job(&format!("{JOBS}/a"), "a").job(&format!("{JOBS}/b"), "b");
        let path = disk.path(&format!("{JOBS}/a/a.md"));
        remove_file(&path).unwrap();
        put(&path);
        let listing = disk.library().look();
        assert_eq!(names(&listing), ["b"]);
        assert_eq!(error(&listing).1, format!("the instructions file `a.md` {why}"));
    }
    let disk = Disk::new();
    disk.job("elsewhere", "linked").write("elsewhere/b.md", "Linked.");
    remove_file(disk.path("elsewhere/a.md")).unwrap();
    symlink("b.md", disk.path("elsewhere/a.md")).unwrap();
    create_dir_all(disk.path(JOBS)).unwrap();
    symlink(disk.path("elsewhere"), disk.path(&format!("{JOBS}/linked"))).unwrap();
    assert_eq!(disk.library().look().jobs[0].steps[0].instructions, "Linked.", "links inside are fine");
}

#[test]
fn folders_that_cannot_be_looked_at_are_said() {
    let disk = Disk::new();
    disk.write(JOBS, "a file");
    assert_eq!(error(&disk.library().look()).0, "jobs");
    let disk = Disk::new();
    disk.job(&format!("{JOBS}/a"), "a");
    let listing = Library::new(disk.0.path(), disk.0.path(), vec![disk.path("nowhere")]).look();
    assert_eq!((names(&listing), listing.errors.len()), (vec!["a"], 0));
    assert_eq!(
        listing.warnings[0].message,
        "DEEPWORK_ADDITIONAL_JOBS_FOLDERS names this folder, which does not exist"
    );
    let folder = disk.path(&format!("{JOBS}/a"));
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o000)).unwrap();
    let listing = disk.library().look();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
    // Root can read it anyway.
    assert_eq!(listing.jobs.len() + listing.errors.len(), 1);
}

#[test]
fn several_threads_may_look_at_once() {
    let disk = Disk::new();
    for i in 0..8 {
        disk.job(&format!("{JOBS}/j{i}"), &format!("j{i}"));
    }
    let library = disk.library();
    std::thread::scope(|scope| {
        let looks: Vec<_> = (0..4).map(|_| scope.spawn(|| library.look())).collect();
        for look in looks {
            assert_eq!(look.join().unwrap().jobs.len(), 8);
        }
    });
}

/// A named pipe without a writer.
fn pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}
