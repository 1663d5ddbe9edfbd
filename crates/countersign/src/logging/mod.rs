//! The log: spans and events of `tracing` as lines on standard error. Off unless `-v` or `COUNTERSIGN_LOG` asks for it.
//! Built with the feature `otlp`, spans also go to a collector where the standard variable names one.

#[cfg(feature = "otlp")]
mod otlp;

use std::io::IsTerminal;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry};

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// The level, or a list `target=level,…`.
pub const LOG: &str = "COUNTERSIGN_LOG";
/// `text`, or `json` for one object per line.
pub const FORMAT: &str = "COUNTERSIGN_LOG_FORMAT";

/// Must be ended for the log to be complete.
#[derive(Default)]
pub struct Log {
    #[cfg(feature = "otlp")]
    collector: Option<otlp::Collector>,
}

impl Log {
    pub fn end(self) {
        #[cfg(feature = "otlp")]
        if let Some(collector) = self.collector {
            collector.end();
        }
    }
}

/// Starts the log where it is requested. `-v` is for our own code; the variable wins over it. A wrong value is reported
/// and logs nothing: the log must not decide how a command ends.
pub fn start(verbose: u8) -> Log {
    #[cfg_attr(not(feature = "otlp"), expect(unused_mut, reason = "a collector is noted in it"))]
    let mut log = Log::default();
    let mut layers: Vec<BoxedLayer> = vec![];
    match lines_wanted(verbose) {
        Ok(wanted) => layers.extend(wanted),
        Err(words) => eprintln!("countersign: {words}; nothing is logged"),
    }
    #[cfg(feature = "otlp")]
    if let Some((layer, collector)) = otlp::wanted() {
        layers.push(layer);
        log.collector = Some(collector);
    }
    if !layers.is_empty() {
        // Fails only where a log is set already, and no other place sets one.
        let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layers));
    }
    log
}

fn lines_wanted(verbose: u8) -> Result<Option<BoxedLayer>, String> {
    let Some(targets) = wanted(variable(LOG), verbose).map_err(|words| format!("{LOG}: {words}"))? else {
        return Ok(None);
    };
    let json = match variable(FORMAT).as_deref() {
        None | Some("text") => false,
        Some("json") => true,
        Some(other) => return Err(format!("{FORMAT}: `{other}` is not `text` or `json`")),
    };
    Ok(Some(Box::new(lines(json).with_filter(targets))))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Our own crates at this level, without libraries.
fn ours(level: LevelFilter) -> Targets {
    let crates = ["countersign", "countersign_app", "countersign_doors", "countersign_engine"];
    crates.into_iter().fold(Targets::new(), |targets, name| targets.with_target(name, level))
}

/// The filter that the variable or `-v` asks for; none where neither does.
fn wanted(variable: Option<String>, verbose: u8) -> Result<Option<Targets>, String> {
    let Some(written) = variable else {
        return Ok(match verbose {
            0 => None,
            1 => Some(ours(LevelFilter::INFO)),
            2 => Some(ours(LevelFilter::DEBUG)),
            _ => Some(Targets::new().with_default(LevelFilter::TRACE)),
        });
    };
    // The parser alone would also take numbers.
    let level = |word: &str| word.parse::<LevelFilter>().ok().filter(|_| LEVELS.contains(&word));
    let part = |part: &str| {
        let (target, word) = part.split_once('=').filter(|(target, _)| !target.is_empty())?;
        Some((target.to_owned(), level(word)?))
    };
    let written = written.trim();
    let all = match level(written) {
        Some(level) => Some(ours(level)),
        None => written.split(',').map(part).collect(),
    };
    all.map(Some).ok_or_else(|| {
        format!(
            "`{written}` is not a level (error, warn, info, debug, trace) or a list such as \
             `countersign_engine=debug,sqlx=info`"
        )
    })
}

/// Lines of text or JSON, with one more line at the end of a span: how long it took.
fn lines(json: bool) -> BoxedLayer {
    let layer =
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_span_events(FmtSpan::CLOSE);
    match json {
        true => Box::new(layer.json().flatten_event(true)),
        false => Box::new(layer.with_ansi(std::io::stderr().is_terminal())),
    }
}

#[cfg(test)]
mod tests {
    use super::wanted;

    #[test]
    fn what_is_logged_is_a_level_or_a_list() {
        for (variable, verbose, some) in [
            (None, 0, false),
            (None, 1, true),
            (None, 9, true),
            (Some("debug"), 0, true),
            (Some("off"), 2, true),
            (Some("countersign_engine=debug,sqlx=info"), 0, true),
        ] {
            let wanted = wanted(variable.map(str::to_owned), verbose);
            assert_eq!(wanted.map(|wanted| wanted.is_some()), Ok(some), "{variable:?} {verbose}");
        }
        for wrong in
            ["loud", "countersign_engine=loud", "countersign_engine=debug,", "5", "=", "=debug", "a=5"]
        {
            assert!(wanted(Some(wrong.to_owned()), 0).is_err(), "{wrong}");
        }
    }
}
