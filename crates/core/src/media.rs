//! Pictures, sound, video and fonts: known by what their names end in and by their first bytes, both.

/// How many bytes from the beginning tell what a file is.
pub const HEAD_BYTES: usize = 16;

/// Endings of names, where the mark stands, and the mark.
const KINDS: &[(&[&str], usize, &[u8])] = &[
    (&["png", "apng"], 0, b"\x89PNG\r\n\x1a\n"),
    (&["jpg", "jpeg"], 0, b"\xff\xd8\xff"),
    (&["gif"], 0, b"GIF87a"),
    (&["gif"], 0, b"GIF89a"),
    (&["webp"], 8, b"WEBP"),
    (&["bmp"], 0, b"BM"),
    (&["ico"], 0, b"\0\0\x01\0"),
    (&["cur"], 0, b"\0\0\x02\0"),
    (&["icns"], 0, b"icns"),
    (&["tif", "tiff"], 0, b"II*\0"),
    (&["tif", "tiff"], 0, b"MM\0*"),
    (&["psd"], 0, b"8BPS"),
    (&["avif", "heic", "heif", "mp4", "m4a", "m4v", "mov"], 4, b"ftyp"),
    (&["mp3"], 0, b"ID3"),
    (&["mp3"], 0, b"\xff\xfb"),
    (&["mp3"], 0, b"\xff\xf3"),
    (&["wav"], 8, b"WAVE"),
    (&["avi"], 8, b"AVI "),
    (&["ogg", "oga", "ogv", "opus"], 0, b"OggS"),
    (&["flac"], 0, b"fLaC"),
    (&["mid", "midi"], 0, b"MThd"),
    (&["webm", "mkv"], 0, b"\x1a\x45\xdf\xa3"),
    (&["woff"], 0, b"wOFF"),
    (&["woff2"], 0, b"wOF2"),
    (&["ttf"], 0, b"\0\x01\0\0"),
    (&["ttf"], 0, b"true"),
    (&["ttc", "otc"], 0, b"ttcf"),
    (&["otf"], 0, b"OTTO"),
];

/// Whether a file with this name and this beginning is one of them.
pub fn is_media(path: &str, head: &[u8]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let ending = ending.to_ascii_lowercase();
    let fits = |(endings, at, mark): &(&[&str], usize, &[u8])| {
        endings.contains(&ending.as_str()) && head.get(*at..).is_some_and(|head| head.starts_with(mark))
    };
    !stem.is_empty() && KINDS.iter().any(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_18_media_are_known_by_name_and_first_bytes() {
        const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        for (path, head, is) in [
            ("a.png", PNG, true),
            ("img/A.PNG", PNG, true),
            ("a.sh", PNG, false),
            ("png", PNG, false),
            (".png", PNG, false),
            ("a.jpg", PNG, false),
            ("a.png", b"#!/bin/sh\n\0", false),
            ("a.png", b"", false),
            ("a.webp", b"RIFF\x10\0\0\0WEBPVP8 ", true),
            ("a.wav", b"RIFF\x10\0\0\0WEBPVP8 ", false),
            ("a.mp4", b"\0\0\0\x20ftypisom", true),
            ("a.woff2", b"wOF2\0\x01\0\0", true),
            ("a.ttf", b"\0\x01\0\0\0\x10", true),
            ("a.pyc", b"\0\x01\0\0\0\x10", false),
        ] {
            assert_eq!(is_media(path, head), is, "{path} {head:?}");
        }
    }
}
