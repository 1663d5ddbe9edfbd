//! A change in a few lines: which files, how much of each. Never cut: where a line per file would be too long,
//! folders stand for what is below them.

use super::{Change, ChangedFile};
use countersign_core::text::{counted, neutralise_name};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lists the files with what became of them, in at most about `bytes_max` bytes.
pub fn summary(change: &Change, bytes_max: usize) -> String {
    let files = &change.files;
    let cut = files.iter().filter(|file| file.is_cut).count();
    let mut out = format!("{} changed, {}\n", counted(files.len(), "file", "files"), plus_minus(files));
    if cut > 0 {
        let _ =
            writeln!(out, "The diffs of {} are too long to be shown whole.", counted(cut, "file", "files"));
    }
    out.push_str("Their diffs are judged one by one; this is about the change as a whole.\n\n");
    let room = bytes_max.saturating_sub(out.len());
    let each: String = files.iter().map(|file| format!("{}\n", line(file))).collect();
    if each.len() <= room {
        return out + &each;
    }
    let deepest = files.iter().map(|file| file.path.matches('/').count()).max().unwrap_or(0);
    let by_folder = (0..=deepest).rev().map(|depth| folders(files, depth)).find(|list| list.len() <= room);
    out.push_str(&by_folder.unwrap_or_default());
    out
}

fn plus_minus<'a>(files: impl IntoIterator<Item = &'a ChangedFile>) -> String {
    let sum = |(added, removed), file: &ChangedFile| (added + file.added, removed + file.removed);
    let (added, removed) = files.into_iter().fold((0, 0), sum);
    format!("+{added} -{removed} lines")
}

fn line(file: &ChangedFile) -> String {
    let mut out = format!("- {}: {}", neutralise_name(&file.path).0, file.kind.word());
    if let Some(old) = &file.old_path {
        let _ = write!(out, " from {}", neutralise_name(old).0);
    }
    let what = if file.is_binary { "binary".to_owned() } else { plus_minus([file]) };
    let _ = write!(out, ", {what}");
    if file.is_cut {
        let _ = write!(out, ", diff of {} bytes cut", file.patch_bytes);
    }
    out
}

fn folders(files: &[ChangedFile], depth: usize) -> String {
    let mut groups: BTreeMap<String, Vec<&ChangedFile>> = BTreeMap::new();
    for file in files {
        let folder = match file.path.match_indices('/').take(depth).last() {
            Some((end, _)) => &file.path[..=end],
            None => "",
        };
        groups.entry(folder.to_owned()).or_default().push(file);
    }
    let mut out = String::new();
    for (folder, files) in groups {
        let name = if folder.is_empty() { "./".into() } else { neutralise_name(&folder).0 };
        let count = counted(files.len(), "file", "files");
        let _ = writeln!(out, "- {name}: {count}, {}", plus_minus(files));
    }
    out
}
