//! The transport over standard input and output: one message per line, nothing else on standard output.

use super::handler::{Handler, Receipts};
use super::server::Server;
use crate::loopback::MESSAGE_LIMIT_BYTES;
use countersign_app::Failure;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use serde_json::Value;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Serves one client until it hangs up.
pub async fn serve(server: &Server) -> Result<(), Failure> {
    let gone = server.stopping().child_token();
    let receipts = Receipts::default();
    let handler = Handler { server: server.clone(), gone: gone.clone(), receipts: Some(receipts.clone()) };
    let (reader, writer) = stdio_pipes();
    let lines = Lines {
        reader: BufReader::new(reader),
        line: vec![],
        too_long: false,
        begun: false,
        writer: Arc::new(Mutex::new(writer)),
        server: server.clone(),
        receipts,
        gone: gone.clone(),
    };
    match serve_server_with_ct(handler, lines, server.stopping().child_token()).await {
        Ok(running) => {
            let ended = running.waiting().await;
            ended.map(drop).map_err(|error| Failure::internal(format!("the server failed: {error}")))
        }
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(Failure::internal(format!("the client could not be served: {error}"))),
    }
}

/// The SDK's own transport does not report that a client hung up while it waited for answers, nor that an answer was
/// written, and it drops a message that is too long without an error.
struct Lines {
    reader: BufReader<StdioReader>,
    /// The part of a line that was read. It outlives a `receive` that is dropped half-way.
    line: Vec<u8>,
    /// Whether the rest of this line is skipped.
    too_long: bool,
    /// Whether a request was read; messages before the first request are ignored.
    begun: bool,
    writer: Arc<Mutex<StdioWriter>>,
    server: Server,
    receipts: Receipts,
    gone: CancellationToken,
}

impl Lines {
    /// Reads a whole line. False at the end.
    async fn read_line(&mut self) -> bool {
        loop {
            let Ok(read) = self.reader.fill_buf().await else { return false };
            if read.is_empty() {
                return false;
            }
            let newline = read.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(read.len(), |at| at + 1);
            if self.line.len() + taken > MESSAGE_LIMIT_BYTES {
                self.too_long = true;
                self.line.clear();
            }
            if !self.too_long {
                self.line.extend_from_slice(&read[..taken]);
            }
            self.reader.consume(taken);
            if newline.is_some() {
                return true;
            }
        }
    }

    /// The message on the line that was read, or what to answer instead.
    fn message(&mut self) -> Result<Option<ClientJsonRpcMessage>, (ErrorData, Option<RequestId>)> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            let words = format!("a message may have {MESSAGE_LIMIT_BYTES} bytes at most");
            return Err((ErrorData::invalid_request(words, None), None));
        }
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        match serde_json::from_slice(&line) {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.is_data() => {
                let id = serde_json::from_slice::<Value>(&line).ok();
                let id = id.and_then(|value| serde_json::from_value::<RequestId>(value["id"].clone()).ok());
                Err((ErrorData::invalid_request("this is not a message of the protocol", None), id))
            }
            // An answer to a line that is not JSON could start an endless exchange of errors.
            Err(error) => {
                eprintln!("countersign mcp: a line that is not JSON is ignored: {error}");
                Ok(None)
            }
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (writer, server, receipts) = (self.writer.clone(), self.server.clone(), self.receipts.clone());
        let gone = self.gone.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut delivered = None;
            if let JsonRpcMessage::Response(response) = &message
                && let Some(afterwards) = receipts.take(&response.id)
            {
                delivered = Some((server.delivery().await, afterwards));
            }
            let mut writer = writer.lock().await;
            writer.write_all(&line).await?;
            writer.flush().await?;
            if let Some((delivery, afterwards)) = delivered.filter(|_| !gone.is_cancelled()) {
                server.record(delivery, afterwards);
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if !self.read_line().await {
                // Calls that wait for a review must not keep the server from ending.
                self.gone.cancel();
                return None;
            }
            match self.message() {
                Ok(Some(message)) => {
                    self.begun |= matches!(message, JsonRpcMessage::Request(_));
                    if self.begun {
                        return Some(message);
                    }
                }
                Ok(None) => {}
                Err((error, id)) => {
                    if self.send(JsonRpcMessage::error(error, id)).await.is_err() {
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.gone.cancel();
        self.writer.lock().await.flush().await
    }
}
