//! The ways out that need no other part of this program to work: a panic, and a signal that was not enough.

use countersign_core::outcome::Outcome;
use countersign_engine::scratch;
use std::thread;
use std::time::Duration;
use tokio::sync::Notify;

/// How long a command may take to stop after it was told to. Programs that it started are given a few seconds each.
const GRACE: Duration = Duration::from_secs(10);
/// What the threads of the runtime are called.
const RUNTIME_THREAD: &str = "tokio-rt-worker";

const MAIN_THREAD: &str = "main";

/// Ends the process at once.
pub fn end(outcome: Outcome) -> ! {
    crate::terminal::restore();
    scratch::clear();
    std::process::exit(i32::from(outcome.exit_code()))
}

/// What a panic ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    Process,
    /// In the runtime one call, elsewhere the process: a server has others to answer.
    Call,
    /// What waits for [`panicked`]: a hook has to say something before it ends.
    Work,
}

static PANICKED: Notify = Notify::const_new();

/// Comes back when something has panicked.
pub async fn panicked() {
    PANICKED.notified().await;
}

/// Ends the work of a thread that panicked: its caller would wait for ever.
pub fn on_panic(ends: Ends) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        let thread = thread::current();
        match ends {
            Ends::Call if thread.name() == Some(RUNTIME_THREAD) => return,
            // The main thread ends the process by itself, after it has put the terminal in order.
            Ends::Process if thread.name() == Some(MAIN_THREAD) => return,
            Ends::Work => return PANICKED.notify_one(),
            Ends::Call | Ends::Process => {}
        }
        eprintln!("error: this is a defect of Countersign; nothing that was recorded is lost");
        end(Outcome::Internal);
    }));
}

/// Ends the process after a while, whatever it is busy with.
pub fn end_after_grace() {
    thread::spawn(|| {
        thread::sleep(GRACE);
        end(Outcome::Interrupted);
    });
}
