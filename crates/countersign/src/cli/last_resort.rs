//! Exits that work without any other part of this program: after a panic, and after a signal that did not stop it.

use countersign_core::outcome::Outcome;
use countersign_engine::scratch;
use std::thread;
use std::time::Duration;
use tokio::sync::Notify;

/// How long a command may take to stop. Programs that it started get a few seconds each.
const GRACE: Duration = Duration::from_secs(10);
const RUNTIME_THREAD: &str = "tokio-rt-worker";

const MAIN_THREAD: &str = "main";

pub fn end(outcome: Outcome) -> ! {
    crate::terminal::restore();
    scratch::clear();
    std::process::exit(i32::from(outcome.exit_code()))
}

/// What a panic ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    Process,
    /// In the runtime one call, elsewhere the process: a server has other calls to answer.
    Call,
    /// The future that waits for [`panicked`]: a hook must answer before it ends.
    Work,
}

static PANICKED: Notify = Notify::const_new();

pub async fn panicked() {
    PANICKED.notified().await;
}

/// Ends the work of a thread that panicked: otherwise its caller waits for ever.
pub fn on_panic(ends: Ends) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        let thread = thread::current();
        match ends {
            Ends::Call if thread.name() == Some(RUNTIME_THREAD) => return,
            // The main thread ends the process itself, after it restored the terminal.
            Ends::Process if thread.name() == Some(MAIN_THREAD) => return,
            Ends::Work => return PANICKED.notify_one(),
            Ends::Call | Ends::Process => {}
        }
        eprintln!("error: this is a defect of Countersign; nothing that was recorded is lost");
        end(Outcome::Internal);
    }));
}

/// Ends the process after the grace period in any case.
pub fn end_after_grace() {
    thread::spawn(|| {
        thread::sleep(GRACE);
        end(Outcome::Interrupted);
    });
}
