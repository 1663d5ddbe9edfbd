//! The handler that the SDK calls for each request. It answers from the tables of tools.

use super::progress::Progress;
use super::server::Server;
use super::tools::{self, Afterwards, Call, Reply, Tool};
use countersign_app::Failure;
use countersign_app::answer::v1::{Mistake, Problem};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ContentBlock, CustomRequest, CustomResult, ErrorCode, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
    ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, RequestId, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// How many answers may wait to be written.
const RECEIPTS_MAX: usize = 1024;

const INSTRUCTIONS: &str = "Countersign is the gate between \"I am done\" and \"it is done\". Two ways to use it. Workflows: when a \
task may be covered by a workflow of this project, call get_workflows first, then start_workflow, do the step it gives you, and \
hand it in with finished_step, until the workflow is complete. Anything else: when you have finished a piece of work, submit the \
files with review_submit, wait for the verdict with review_wait, fix the findings, and submit again under the same \
subject until the outcome is passed. Work that has not passed is not done. The verdict is about exactly the bytes you \
submitted: do not edit those files while a review runs.";

#[derive(Clone)]
pub struct Handler {
    pub server: Server,
    /// Ends when this client is gone, or the server stops.
    pub gone: CancellationToken,
    /// Set where the transport knows when an answer was written; otherwise it counts as written when it is returned.
    pub receipts: Option<Receipts>,
}

/// The future to run once an answer was written, by the id of its request.
#[derive(Clone, Default)]
pub struct Receipts(Arc<Mutex<HashMap<RequestId, Afterwards>>>);

impl Receipts {
    fn put(&self, id: RequestId, afterwards: Afterwards) {
        let mut receipts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Answers to cancelled requests are never written, and so never taken.
        if receipts.len() >= RECEIPTS_MAX {
            receipts.clear();
        }
        receipts.insert(id, afterwards);
    }

    pub fn take(&self, id: &RequestId) -> Option<Afterwards> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

impl Handler {
    async fn run(
        &self,
        tool: &'static Tool,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let _turn = tokio::select! {
            turn = self.server.turn() => turn,
            () = context.ct.cancelled() => return tool_error(&Failure::interrupted()),
            () = self.gone.cancelled() => return tool_error(&Failure::interrupted()),
        };
        self.server.deliveries_recorded().await;
        let client = context.client_info().map_or_else(|| "unknown".to_owned(), |info| info.name);
        let progress = Progress::new(context.peer.clone(), context.meta.get_progress_token());
        let cancel = self.gone.child_token();
        let arguments = request.arguments.unwrap_or_default();
        let call = Call { server: self.server.clone(), client, progress, cancel: cancel.clone(), arguments };
        // As a task of its own, so that a panic ends this call alone and is reported.
        let mut running = tokio::spawn((tool.run)(call));
        let ended = loop {
            tokio::select! {
                ended = &mut running => break ended,
                () = context.ct.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
            }
        };
        match ended {
            Ok(Ok(Reply { json, text, afterwards })) => {
                if let Some(afterwards) = afterwards.filter(|_| !cancel.is_cancelled()) {
                    match &self.receipts {
                        Some(receipts) => receipts.put(context.id, afterwards),
                        None => self.server.record(self.server.delivery().await, afterwards),
                    }
                }
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(json);
                result
            }
            Ok(Err(failure)) => tool_error(&failure),
            Err(error) => tool_error(&Failure::internal(format!("the call failed: {error}"))),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let own = Implementation::new("countersign", env!("CARGO_PKG_VERSION")).with_title("Countersign");
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = tools::all().map(listed);
        #[cfg(debug_assertions)]
        let all = all.chain(super::fixtures::tools());
        Ok(ListToolsResult::with_all_items(all.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        #[cfg(debug_assertions)]
        if let Some(fixture) = super::fixtures::tools().into_iter().find(|tool| tool.name == name) {
            return Some(fixture);
        }
        tools::find(name).map(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        #[cfg(debug_assertions)]
        if let Some(result) = super::fixtures::call(&request.name, &context).await {
            return result.map(Into::into);
        }
        let Some(tool) = tools::find(&request.name) else {
            let known: Vec<_> = tools::all().map(|tool| tool.name).collect();
            let name: String = request.name.chars().take(100).collect();
            let words =
                format!("unknown tool `{}`; the tools are: {}", name.escape_debug(), known.join(", "));
            return Err(ErrorData::invalid_params(words, None));
        };
        Ok(self.run(tool, request, context).await.into())
    }

    // The SDK would answer these with an empty list, as if there could be some.

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    /// Called for unknown methods, and for known ones with parameters of another form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(100).collect();
        let (code, words) = match method.as_str() {
            "tools/call" | "tools/list" | "server/discover" => {
                (ErrorCode::INVALID_PARAMS, format!("the parameters of {method} are invalid"))
            }
            _ => (ErrorCode::METHOD_NOT_FOUND, format!("unknown method {method}")),
        };
        Err(ErrorData::new(code, words, None))
    }
}

fn listed(tool: &Tool) -> rmcp::model::Tool {
    let hints = tool.hints;
    let annotations = ToolAnnotations::from_raw(
        Some(tool.title.to_owned()),
        Some(hints.read_only),
        Some(hints.destructive),
        Some(hints.idempotent),
        Some(hints.open_world),
    );
    rmcp::model::Tool::new(tool.name, tool.description, (tool.input)())
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(tools::or_error((tool.output)())))
        .with_annotations(annotations)
}

/// A failure as the result of a call: structured for programs, as text for models.
fn tool_error(failure: &Failure) -> CallToolResult {
    let problem = Problem::from(failure);
    let Mistake { code, message, hint, file, line, .. } = &problem.first;
    let mut text = format!("error ({}/{code}): {message}", problem.kind);
    if let (Some(file), Some(line)) = (file, line) {
        text.push_str(&format!("\nat {file}:{line}"));
    }
    if let Some(hint) = hint {
        text.push_str(&format!("\nwhat to do: {hint}"));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({ "error": problem }));
    result
}
