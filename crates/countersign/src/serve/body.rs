//! The body of an answer: one object, or events for as long as somebody reads them.

use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::{mpsc, oneshot};

/// What is done once an answer was given.
pub type Afterwards = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A body.
pub enum Answered {
    /// All of it, and who wants to know that it was taken.
    Whole(Option<Bytes>, Option<oneshot::Sender<()>>),
    /// Piece by piece. A piece is asked for when the one before was sent, so a slow reader has few of them waiting.
    Pieces(mpsc::Receiver<Bytes>),
}

impl Body for Answered {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes, taken) => {
                if let Some(taken) = taken.take() {
                    // Nobody wants to know any more: the server stops.
                    let _ = taken.send(());
                }
                Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))))
            }
            Self::Pieces(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None, _))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes, _) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}
