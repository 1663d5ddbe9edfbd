//! The ledger as a whole: backup, export, import, pruning, and tables computed again. What adds to it or removes from it
//! is for people; reading it is for everyone.

use crate::Failure;
use crate::answer::v1::ledger::{Backup, Exported, Imported, Pruned, Rebuilt};
use crate::author::{actor, require_person};
use crate::find::no_ledger;
use crate::project::Project;
use countersign_engine::ledger::{Ledger, Order, Totals};
use jiff::{Timestamp, Zoned};
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

async fn existing(project: &Project) -> Result<Ledger, Failure> {
    project.existing_ledger().await?.ok_or_else(no_ledger)
}

fn failed(file: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("`{}`: {error}", file.display())).hint("name another file")
}

/// Copies the ledger to a new file; without a name beside the ledger, where git and `git clean` do not see it.
pub async fn backup(project: &Project, file: Option<PathBuf>) -> Result<Backup, Failure> {
    let ledger = existing(project).await?;
    let file = match file {
        Some(file) => file,
        None => {
            let folder = project.ledger_dir().join("backups");
            std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
            folder.join(Zoned::now().strftime("ledger-%Y%m%d-%H%M%S.db").to_string())
        }
    };
    let events = ledger.backup(&file).await?;
    ledger.close().await;
    Ok(Backup { file, events })
}

/// Writes every event and call to a stream.
pub async fn export_to(project: &Project, to: &mut (dyn Write + Send)) -> Result<Totals, Failure> {
    let ledger = existing(project).await?;
    let totals = ledger.export(to).await?;
    ledger.close().await;
    Ok(totals)
}

/// Writes every event and call to a new file.
pub async fn export(project: &Project, file: PathBuf) -> Result<Exported, Failure> {
    if file.symlink_metadata().is_ok() {
        return Err(countersign_engine::ledger::LedgerError::Exists(file.display().to_string()).into());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(&file, &error))?;
    let mut to = BufWriter::new(beside);
    let Totals { events, calls, head, .. } = export_to(project, &mut to).await?;
    let beside = to.into_inner().map_err(|error| failed(&file, error.error()))?;
    beside.as_file().sync_all().map_err(|error| failed(&file, &error))?;
    beside.persist_noclobber(&file).map_err(|error| failed(&file, &error.error))?;
    Ok(Exported { file, events, calls, head })
}

/// Adds the events of an export as advice: nothing counts them.
pub async fn import(project: &Project, file: &Path) -> Result<Imported, Failure> {
    require_person("only a person at a terminal can import into the ledger")?;
    let opened = File::open(file).map_err(|error| failed(file, &error))?;
    let ledger = project.ledger().await?;
    let (name, by) = (file.display().to_string(), actor());
    let at_ms = Timestamp::now().as_millisecond();
    let imported = ledger.import(&mut BufReader::new(opened), &name, &by, at_ms).await?;
    ledger.close().await;
    Ok(imported.into())
}

/// Whether this is a person, who may remove events.
pub fn may_prune() -> Result<(), Failure> {
    require_person("only a person at a terminal can remove events from the ledger")
}

/// Removes the events of reviews that ended before a time, or says what would be removed.
pub async fn prune(project: &Project, before_ms: i64, dry_run: bool) -> Result<Pruned, Failure> {
    if !dry_run {
        may_prune()?;
    }
    let ledger = existing(project).await?;
    let by = actor();
    let order = Order { by: &by, at_ms: Timestamp::now().as_millisecond(), before_ms };
    let pruned = ledger.prune(&order, dry_run).await?;
    ledger.close().await;
    Ok(Pruned::of(pruned, before_ms, dry_run))
}

/// Computes the tables again from the events, where they differ.
pub async fn rebuild(project: &Project) -> Result<Rebuilt, Failure> {
    require_person("only a person at a terminal can have the tables of the ledger computed again")?;
    let ledger = existing(project).await?;
    let rows = ledger.rebuild(&actor(), Timestamp::now().as_millisecond()).await?;
    ledger.close().await;
    Ok(Rebuilt { rows })
}
