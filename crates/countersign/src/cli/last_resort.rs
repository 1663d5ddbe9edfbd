//! The ways out that need no other part of this program to work: a panic, and a signal that was not enough.

use countersign_core::outcome::Outcome;
use countersign_engine::scratch;
use std::thread;
use std::time::Duration;

/// How long a command may take to stop after it was told to. Programs that it started are given a few seconds each.
const GRACE: Duration = Duration::from_secs(10);
/// What the threads of the runtime are called.
const RUNTIME_THREAD: &str = "tokio-rt-worker";

/// Ends the process at once.
pub fn end(outcome: Outcome) -> ! {
    crate::terminal::restore();
    scratch::clear();
    std::process::exit(i32::from(outcome.exit_code()))
}

/// Lets every panic end the process: a thread that is gone never answers, and whoever asked it would wait for ever. In a
/// server the panic of one call ends that call only.
pub fn end_on_panic(is_server: bool) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        let one_call = thread::current().name() == Some(RUNTIME_THREAD);
        if is_server && one_call {
            return;
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
