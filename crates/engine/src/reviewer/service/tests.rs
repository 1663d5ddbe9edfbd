//! What streams mean, however they are cut; and a service that falls silent.

use super::exchange::{StreamReply, take};
use super::sse::Events;
use super::*;
use countersign_core::ids::CallId;
use countersign_core::plan::Target;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

type End = (Result<String, Problem>, Option<Usage>);

/// What a reply comes to whose stream comes in pieces of so many bytes.
fn read(api: Api, stream: &str, piece: usize) -> End {
    let mut reply: Box<dyn StreamReply> = match api {
        Api::Anthropic => Box::<messages::Reply>::default(),
        Api::OpenAi => Box::<chat::Reply>::default(),
    };
    let mut events = Events::new(100_000);
    for piece in stream.as_bytes().chunks(piece.max(1)) {
        for data in events.push(piece).unwrap() {
            match take(reply.as_mut(), &data) {
                Ok(false) => {}
                Ok(true) => return (reply.said(), reply.usage()),
                Err(problem) => return (Err(problem), reply.usage()),
            }
        }
    }
    (reply.said(), reply.usage())
}

fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// A Messages stream with these blocks and this end.
fn messages(blocks: &[Value], stop: &str) -> String {
    let usage =
        json!({ "input_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 100 });
    let mut events = vec![
        json!({ "type": "message_start", "message": { "model": "m", "usage": usage } }),
        json!({ "type": "ping" }),
    ];
    for (index, block) in blocks.iter().enumerate() {
        let (kind, field) = match block["type"].as_str() {
            Some("tool_use") => ("input_json_delta", "partial_json"),
            _ => ("text_delta", "text"),
        };
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        for piece in block["pieces"].as_array().into_iter().flatten() {
            let delta = json!({ "type": kind, field: piece });
            events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let usage = json!({ "output_tokens": 7 });
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": usage }));
    events.push(json!({ "type": "message_stop" }));
    stream(&events)
}

fn tool(name: &str, pieces: &[&str]) -> Value {
    json!({ "type": "tool_use", "name": name, "input": {}, "pieces": pieces })
}

fn said(pieces: &[&str]) -> Value {
    json!({ "type": "text", "text": "", "pieces": pieces })
}

/// A chat stream with these deltas and this end.
fn chat(deltas: &[Value], finish: Option<&str>) -> String {
    let choice = |delta: &Value, finish: Option<&str>| json!({ "model": "m", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }], "usage": null });
    let mut events: Vec<Value> = deltas.iter().map(|delta| choice(delta, None)).collect();
    events.extend(finish.map(|finish| choice(&json!({}), Some(finish))));
    let usage = json!({ "prompt_tokens": 125, "completion_tokens": 7 });
    events.push(json!({ "model": "m", "choices": [], "usage": usage }));
    stream(&events) + "data: [DONE]\n\n"
}

fn text(text: &str) -> Value {
    json!({ "content": text })
}

#[test]
fn a_reply_is_what_has_come_to_its_end() {
    use Api::{Anthropic, OpenAi};
    let whole = "{\"passed\":true}";
    let halves = ["{\"passed\"", ":true}"];
    let cut = |stream: String, mark: &str| stream[..stream.find(mark).unwrap()].to_owned();
    let table: Vec<(Api, String, Result<&str, Kind>)> = vec![
        (Anthropic, messages(&[tool("rulings", &halves)], "tool_use"), Ok(whole)),
        (Anthropic, messages(&[said(&["let me see"]), tool("rulings", &halves)], "tool_use"), Ok(whole)),
        (Anthropic, messages(&[said(&halves)], "end_turn"), Ok(whole)),
        (Anthropic, messages(&[], "end_turn"), Ok("")),
        (Anthropic, messages(&[tool("other", &halves)], "tool_use"), Err(Kind::Garbled)),
        (
            Anthropic,
            messages(&[tool("rulings", &halves), tool("rulings", &halves)], "tool_use"),
            Err(Kind::Garbled),
        ),
        (Anthropic, messages(&[tool("rulings", &halves)], "max_tokens"), Err(Kind::ReplyTooLong)),
        (Anthropic, messages(&[said(&["no"])], "refusal"), Err(Kind::Refused)),
        (Anthropic, messages(&[tool("rulings", &halves)], "pause_turn"), Err(Kind::NotWhole)),
        (Anthropic, messages(&[tool("rulings", &halves)], "new_reason"), Err(Kind::NotWhole)),
        (
            Anthropic,
            cut(messages(&[tool("rulings", &halves)], "tool_use"), "data: {\"type\":\"message_stop"),
            Err(Kind::Connection),
        ),
        (Anthropic, String::new(), Err(Kind::Connection)),
        (Anthropic, "data: hello\n\n".to_owned(), Err(Kind::Connection)),
        (
            Anthropic,
            stream(&[json!({ "type": "error", "error": { "type": "overloaded_error" } })]),
            Err(Kind::Overloaded),
        ),
        (OpenAi, chat(&[text(halves[0]), text(halves[1])], Some("stop")), Ok(whole)),
        (OpenAi, chat(&[], Some("stop")), Ok("")),
        (OpenAi, chat(&[text(whole)], Some("length")), Err(Kind::ReplyTooLong)),
        (OpenAi, chat(&[text(whole)], Some("content_filter")), Err(Kind::Refused)),
        (OpenAi, chat(&[json!({ "refusal": "no" })], Some("stop")), Err(Kind::Refused)),
        (OpenAi, chat(&[text(whole)], Some("tool_calls")), Err(Kind::NotWhole)),
        (
            OpenAi,
            cut(chat(&[text(whole)], Some("length")), "data: [DONE]") + &chat(&[], Some("stop")),
            Err(Kind::ReplyTooLong),
        ),
        (OpenAi, chat(&[text(whole)], None), Err(Kind::Connection)),
        (OpenAi, String::new(), Err(Kind::Connection)),
        (OpenAi, "data: [DONE]\n\n".to_owned(), Err(Kind::Connection)),
        (OpenAi, "data: []\n\n".to_owned(), Err(Kind::Connection)),
        (OpenAi, stream(&[json!({ "error": { "code": 503, "message": "busy" } })]), Err(Kind::Overloaded)),
    ];
    for (api, stream, expected) in table {
        let end = read(api, &stream, stream.len());
        let kind = end.0.as_deref().map_err(|problem| problem.kind);
        assert_eq!(kind, expected, "{stream}");
        for piece in 1..stream.len() {
            assert_eq!(read(api, &stream, piece), end, "in pieces of {piece}: {stream}");
        }
    }
}

#[test]
fn what_it_cost_is_known_as_soon_as_it_is_said() {
    let usage = |tokens_out| {
        let (model, cost_microusd) = (Some("m".to_owned()), None);
        Some(Usage { model, tokens_in: Some(125), tokens_out, cost_microusd })
    };
    let whole = messages(&[said(&["x"])], "max_tokens");
    assert_eq!(read(Api::Anthropic, &whole, 9).1, usage(Some(7)));
    let half = &whole[..whole.find("data: {\"delta\":{\"stop_reason").unwrap()];
    assert_eq!(read(Api::Anthropic, half, 9).1, usage(None));
    assert_eq!(read(Api::OpenAi, &chat(&[text("x")], Some("stop")), 9).1, usage(Some(7)));
    assert_eq!(read(Api::OpenAi, "data: [DONE]\n\n", 9).1, None);
}

#[test]
fn a_key_is_neither_printed_nor_repeated() {
    let key = Key::new("s3cret-of-mine");
    let service = Service {
        api: Api::OpenAi,
        base_url: "https://x/v1".to_owned(),
        model: "m".to_owned(),
        key: Ok(Some(key.clone())),
        reply_tokens: 1,
    };
    assert!(!format!("{service:?}").contains("s3cret"));
    let usage = Usage { model: Some("s3cret-of-mine-model".to_owned()), ..Usage::default() };
    let spoken = [
        Ok(ReplyBody::Text("it is s3cret-of-mine".to_owned())),
        Err(Problem::new(Kind::Rejected, "bad s3cret-of-mine")),
    ];
    for said in spoken {
        let heard = without_key(ParsedOutput { said, usage: Some(usage.clone()) }, Some(&key));
        assert!(!format!("{heard:?}").contains("s3cret") && format!("{heard:?}").contains(KEY_MARK));
    }
}

/// Servers of one's own take anything for a key, and people give them words.
#[test]
fn a_word_that_stands_for_a_key_is_no_secret() {
    for key in ["x", "none", "test", "ollama"] {
        let said = format!("the {key} is fine");
        assert_eq!(Key::new(key).hide_in(&said), said);
    }
    assert_eq!(Key::new("sk-12345").hide_in("it is sk-12345."), format!("it is {KEY_MARK}."));
}

#[test]
fn a_key_does_not_go_over_the_network_in_the_open() {
    let service = |base_url: &str, key: Option<Key>| Service {
        api: Api::Anthropic,
        base_url: base_url.to_owned(),
        model: "m".to_owned(),
        key: Ok(key),
        reply_tokens: 1,
    };
    let key = || Some(Key::new("k"));
    assert!(service("http://10.0.0.7/v1", key()).place_and_key().unwrap_err().contains("unencrypted"));
    for (url, key) in
        [("http://10.0.0.7/v1", None), ("https://10.0.0.7/v1", key()), ("http://127.0.0.1:1/v1", key())]
    {
        assert!(service(url, key).place_and_key().is_ok(), "{url}");
    }
}

/// A question, as far as talking needs it.
fn brief(timeout: Duration) -> Brief {
    Brief {
        call: CallId::new(*b"aaaaaaaaaaaa"),
        rule: "r".to_owned(),
        asks: Asks::Rulings(countersign_core::prompt::Shape::RULINGS),
        target: Target::All,
        criteria: vec![],
        system_prompt: String::new(),
        payload: String::new(),
        files: vec![],
        shown: vec![],
        unshown: 0,
        timeout,
        reply_bytes: 1000,
        is_repair: false,
        accept_bare: false,
        folder: "/".into(),
        private: None,
        root: "/".into(),
        surroundings: Arc::default(),
        most_microusd: None,
    }
}

/// A service that sends nothing is noticed, before the first byte and after it.
#[tokio::test]
async fn silence_is_noticed() {
    let beginning = "HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\n\r\ndata: {}\n\n";
    for (says, waits, words) in [
        ("", Duration::from_secs(60), "sent nothing for"),
        (beginning, Duration::from_secs(60), "sent nothing for"),
        ("", Duration::from_millis(30), "it did not begin to answer"),
        (beginning, Duration::from_millis(30), "still answering"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let _ = connection.read(&mut [0; 1024]).unwrap();
            connection.write_all(says.as_bytes()).unwrap();
            // Until the other side has gone.
            let _ = connection.read_to_end(&mut vec![]);
        });
        let (model, key, reply_tokens) = ("m".to_owned(), Ok(None), 1);
        let service = Service { api: Api::OpenAi, base_url, model, key, reply_tokens };
        let (place, key) = service.place_and_key().unwrap();
        let patient = waits > Duration::from_secs(1);
        let silence = if patient { Duration::from_millis(50) } else { Duration::from_secs(60) };
        let silence = Silence { at_first: silence, between: silence };
        let question = Question {
            tool: messages::RULINGS,
            model: "m",
            system_prompt: "",
            prompt: "",
            schema: &Value::Null,
            reply_tokens: 1,
            own: false,
        };
        let brief = brief(waits);
        let exchange =
            Exchange { service: &service, place: &place, key, question: &question, brief: &brief, silence };
        let problem = exchange.within_time().await.said.unwrap_err();
        assert_eq!(problem.kind, Kind::TimedOut);
        assert!(problem.quoted.contains(words), "{}", problem.quoted);
        // The connection is closed by the runtime, which must not be held up.
        tokio::task::spawn_blocking(|| server.join().unwrap()).await.unwrap();
    }
}

/// The vendors refuse what small models need, and the other way round.
#[test]
fn a_vendor_gets_its_own_form() {
    let mut brief = brief(Duration::from_secs(1));
    brief.criteria = vec![countersign_core::criterion::Criterion::must("A", "a?")];
    for (api, base_url, own) in [
        (Api::Anthropic, "https://api.anthropic.com/v1", true),
        (Api::OpenAi, "https://api.openai.com/v1", true),
        (Api::Anthropic, "http://127.0.0.1:1/v1", false),
        (Api::OpenAi, "http://127.0.0.1:1/v1", false),
        (Api::OpenAi, "https://api.anthropic.com/v1", false),
    ] {
        let (base_url, model, key) = (base_url.to_owned(), "m".to_owned(), Ok(None));
        let service = Service { api, base_url, model, key, reply_tokens: 5 };
        let schema = service.schema(&brief);
        let question = Question {
            tool: messages::RULINGS,
            model: "m",
            system_prompt: "s",
            prompt: "p",
            schema: &schema,
            reply_tokens: 5,
            own: service.is_own(),
        };
        let body = match api {
            Api::Anthropic => messages::body(&question),
            Api::OpenAi => chat::body(&question, true),
        };
        assert_eq!(body.to_string().contains("maxLength"), !own, "{body}");
        assert_eq!(body.to_string().contains("\"enum\":[\"A\"]"), !own, "{body}");
        let newer = own && api == Api::OpenAi;
        assert_eq!(
            (&body["max_completion_tokens"] == 5, &body["max_tokens"] == 5),
            (newer, !newer),
            "{body}"
        );
        assert!(chat::body(&question, false)["response_format"].is_null());
    }
}
