//! Scenario texts that are refused, and with which words.

use expect_test::{Expect, expect};
use tierscope_scenario::{SourceFormat, parse, parse_any};

#[track_caller]
fn refused(text: &str, expected: Expect) {
    let problems = parse_any(text).expect_err("the text is refused");
    let printed: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expected.assert_eq(&printed.join("\n"));
}

#[test]
fn a_missing_or_foreign_version_is_refused() {
    refused(
        "title = 'x'\n[workload]\nkind = 'trace'\nfile = 't.jsonl'",
        expect![[r#"
            error: tierscope: found no such key, expected 1, the only schema version that this release understands
              --> scenario:1:1
              mend: add tierscope = 1 at the top"#]],
    );
    refused(
        "tierscope = 2\n[workload]\nkind = 'trace'\nfile = 't.jsonl'",
        expect![[r#"
            error: tierscope: found 2, expected 1, the only schema version that this release understands
              --> scenario:1:13
              mend: write tierscope = 1, or use the release that wrote it"#]],
    );
}

#[test]
fn all_problems_are_reported_in_their_order() {
    refused(
        "tierscope = 1\nsed = 3\n[engine]\nblock_size_tokens = \"16\"\ng1_block = 5\nmax_num_seqs = -1\nwatermark = nan\nzebra = 1\n\
         prefix_caching = \"yes\"\nadmission = \"full\"\nmax_num_batched_tokens = 1e3\n[workload]\nkind = \"tracee\"\n",
        expect![[r#"
            error: sed: found the unknown key "sed", expected a key of a scenario
              --> scenario:2:1
              mend: did you mean seed?
            error: engine.block_size_tokens: found "16", expected a whole number from 1 to 65536
              --> scenario:4:21
              mend: remove the quotation marks
            error: engine.g1_block: found the unknown key "g1_block", expected a key of [engine]
              --> scenario:5:1
              mend: did you mean g1_blocks?
            error: engine.max_num_seqs: found -1, expected a whole number from 1 to 1048576
              --> scenario:6:16
              mend: write 1 or more
            error: engine.watermark: found NaN, expected a number from 0 to 0.99
              --> scenario:7:13
              mend: write a number that is one
            error: engine.zebra: found the unknown key "zebra", expected a key of [engine]
              --> scenario:8:1
              mend: remove it; the keys here are block_size_tokens, max_num_seqs, max_num_batched_tokens, long_prefill_token_threshold, g1_blocks, prefix_caching, chunked_prefill, admission, watermark, eviction, policy, fidelity, victim, acquisition, hash_deletion, async_scheduling, long_prefill_token_threshold_adaptive, max_num_active_seqs, max_num_scheduled_tokens, prefill_schedule_interval, draft_tokens, draft_method, draft_acceptance, max_model_len
            error: engine.prefix_caching: found "yes", expected true or false
              --> scenario:9:18
              mend: write prefix_caching = true or prefix_caching = false, without quotation marks
            error: engine.admission: found "full", expected "full_prompt" or "next_chunk"
              --> scenario:10:13
              mend: did you mean "full_prompt"?
            error: engine.max_num_batched_tokens: found 1000.0, expected a whole number from 1 to 16777216
              --> scenario:11:26
              mend: write 1000 without a point or an exponent
            error: workload.kind: found "tracee", expected "synthetic", "requests" or "trace"
              --> scenario:13:8
              mend: did you mean "trace"?"#]],
    );
}

#[test]
fn contradictions_are_explained() {
    refused(
        "tierscope = 1\n[workload]\nkind = 'synthetic'\nrequests = 10\narrival = 'closed_loop'\nrate_per_s = 2\n\
         prompt_tokens = { min = 9, max = 3, mean = 2 }\noutput_tokens = 0\nturn_delay_ms = 5",
        expect![[r#"
            error: workload.concurrency: found no such key, expected how many requests a closed loop keeps in flight
              --> scenario:2:1
              mend: add concurrency = 8
            error: workload.rate_per_s: found the key rate_per_s, expected no rate in a closed loop
              --> scenario:6:1
              mend: remove it, or write arrival = "poisson"
            error: workload.prompt_tokens.stddev: found no such key, expected mean and stddev
              --> scenario:7:17
              mend: add stddev
            error: workload.prompt_tokens.min: found the key min, expected either min and max or mean and stddev
              --> scenario:7:19
              mend: remove one of the two pairs
            error: workload.prompt_tokens.max: found the key max, expected either min and max or mean and stddev
              --> scenario:7:28
              mend: remove one of the two pairs
            error: workload.output_tokens: found 0, expected a whole number from 1 to 16777216, { min, max } or { mean, stddev }
              --> scenario:8:17
              mend: write 1 or more
            error: workload.turn_delay_ms: found the key turn_delay_ms, expected it only beside turns
              --> scenario:9:1
              mend: add turns, or remove it"#]],
    );
    refused(
        "tierscope = 1\n[engine]\nchunked_prefill = false\nmax_model_len = 10000\n[timing]\nmodel = 'roofline'\n[workload]\nkind = 'requests'\n\
         [[workload.request]]\nat_ms = 5\nafter = 0\nprompt_tokens = 5\nprompt = [[0, 0], [1], 5]\n[[workload.request]]\nat_ms = 2\n\
         prompt_tokens = 5\nprefix = 'a'\nprefix_tokens = 6\noutput_tokens = 1\n[expect]\nfacts = ['request 9 is rejected', 7]\nreport = ['x = 1']",
        expect![[r#"
            error: engine.max_model_len: found 10000, expected at most max_num_batched_tokens (8192) when chunked_prefill = false
              --> scenario:4:17
              mend: write max_num_batched_tokens = 10000, or chunk the prefill
            error: timing.model: found "roofline", expected a roofline only where hardware.model and hardware.gpu are named
              --> scenario:6:9
              mend: add [hardware] with model = "llama-3.1-8b" and gpu = "h100-sxm", or name another pair
            error: workload.request[0].output_tokens: found no such key, expected the length of the answer in tokens
              --> scenario:9:1
              mend: add output_tokens = 128
            error: workload.request[0].at_ms: found the key at_ms, expected either at_ms or after
              --> scenario:10:1
              mend: remove one of the two
            error: workload.request[0].after: found 0, expected an earlier request than this one, which is number 0
              --> scenario:11:9
              mend: name a request that stands above this one
            error: workload.request[0].prompt_tokens: found the key prompt_tokens, expected either prompt or prompt_tokens
              --> scenario:12:1
              mend: remove one of the two
            error: workload.request[0].prompt[0]: found an array of 2, expected pairs of first token id and count: [[0, 256], [9000, 64]]
              --> scenario:13:11
              mend: count: write 1 or more
            error: workload.request[0].prompt[1]: found an array of 1, expected pairs of first token id and count: [[0, 256], [9000, 64]]
              --> scenario:13:19
              mend: write two numbers in each pair
            error: workload.request[0].prompt[2]: found 5, expected pairs of first token id and count: [[0, 256], [9000, 64]]
              --> scenario:13:24
              mend: put each pair in brackets
            error: workload.request[1].prefix_tokens: found 6, expected at most prompt_tokens (5), which counts the prefix too
              --> scenario:18:17
              mend: raise prompt_tokens or lower this
            error: expect.facts[1]: found 7, expected text
              --> scenario:21:35
              mend: put the expectation in quotation marks
            error: expect.report[0]: found "x = 1", expected PATH OP VALUE, with OP one of == != < <= > >=
              --> scenario:22:11
              mend: write == for equality"#]],
    );
}

#[test]
fn hostile_sizes_are_refused_before_anything_is_built() {
    refused(
        "tierscope = 1\n[engine]\nblock_size_tokens = 9223372036854775807\ng1_blocks = 4294967296\n[workload]\nkind = 'synthetic'\nrequests = 10000000\n\
         turns = 9\narrival = 'poisson'\nrate_per_s = inf\nprompt_tokens = 1000000000\noutput_tokens = { mean = 1e300, stddev = 1 }",
        expect![[r#"
            error: engine.block_size_tokens: found 9223372036854775807, expected a whole number from 1 to 65536
              --> scenario:3:21
              mend: write 65536 or less
            error: engine.g1_blocks: found 4294967296, expected a whole number from 1 to 33554432
              --> scenario:4:13
              mend: write 33554432 or less
            error: workload.turns: found 9, expected at most 10000000 requests in all; 90000000 = requests × turns
              --> scenario:8:9
              mend: lower requests or turns
            error: workload.rate_per_s: found infinity, expected a number from 0.000001 to 1000000000
              --> scenario:10:14
              mend: write 1000000000 or less
            error: workload.prompt_tokens: found 1000000000, expected a whole number from 1 to 16777216, { min, max } or { mean, stddev }
              --> scenario:11:17
              mend: write 16777216 or less
            error: workload.output_tokens.mean: found 1e300, expected a number from 1 to 16777216
              --> scenario:12:26
              mend: write 16777216 or less"#]],
    );
    let big = format!("tierscope = 1\n# {}", "x".repeat(1 << 20));
    refused(
        &big,
        expect![[r#"
        error: found a text of 1048592 bytes, expected at most 1048576 bytes
          --> scenario:1:1
          mend: put the requests in a trace file and name it in workload.file"#]],
    );
}

#[test]
fn json_is_strict() {
    refused(
        "{\"tierscope\": 1, /* no */ \"seed\": 1}",
        expect![[r#"
            error: found a syntax error (comments are not allowed), expected strict JSON
              --> scenario:1:18
              mend: remove the comment, or write the scenario in TOML, which has comments"#]],
    );
    refused(
        "{\"tierscope\": 1,}",
        expect![[r#"
            error: found a syntax error (trailing commas are not allowed), expected strict JSON
              --> scenario:1:16
              mend: remove the last comma"#]],
    );
    refused(
        "{\"tierscope\": 1, \"seed\": 1, \"seed\": 01}",
        expect![[r#"
            error: found a syntax error (expected comma), expected strict JSON
              --> scenario:1:38
              mend: write "key": value pairs in {braces}, separated by commas"#]],
    );
    refused(
        "{\"tierscope\": 1, \"seed\": 1e999, \"engine\": null, \"workload\": []}",
        expect![[r#"
        error: seed: found infinity, expected a whole number from 0 to 9223372036854775807
          --> scenario:1:26
          mend: write 9223372036854775807 or less
        error: engine: found null, expected a table
          --> scenario:1:43
          mend: write [engine] and its keys below
        error: workload: found an array of 0, expected a table
          --> scenario:1:61
          mend: write [workload] and its keys below"#]],
    );
    refused(
        "{",
        expect![[r#"
            error: found a syntax error (unterminated object), expected strict JSON
              --> scenario:1:1
              mend: write "key": value pairs in {braces}, separated by commas"#]],
    );
    let empty = parse("", SourceFormat::Json).expect_err("an empty text is refused");
    assert_eq!((empty.len(), empty[0].line, empty[0].column), (1, 1, 1));
}

#[test]
fn toml_syntax_errors_have_a_place() {
    refused(
        "tierscope = 1\nseed = = 2",
        expect![[r#"
            error: found a syntax error (extra `=`, expected nothing), expected TOML
              --> scenario:2:8
              mend: write key = value; quote text; put tables in [brackets]"#]],
    );
    refused(
        "tierscope = 1\nseed = 1\nseed = 2",
        expect![[r#"
            error: found a syntax error (duplicate key), expected TOML
              --> scenario:3:1
              mend: keep one of the two and remove the other"#]],
    );
    refused(
        "",
        expect![[r#"
        error: tierscope: found no such key, expected 1, the only schema version that this release understands
          --> scenario:1:1
          mend: add tierscope = 1 at the top
        error: workload: found no such key, expected a table that says which requests arrive
          --> scenario:1:1
          mend: add [workload] with kind = "synthetic", "requests" or "trace""#]],
    );
}

#[test]
fn block_sizes_that_do_not_divide_the_traces_are_refused_with_those_that_do() {
    refused(
        "tierscope = 1\n[engine]\nblock_size_tokens = 48\n[workload]\nkind = 'trace'\nfile = 't.jsonl'",
        expect![[r#"
            error: engine.block_size_tokens: found 48, expected a divisor of the trace's block of 512 tokens
              --> scenario:3:21
              mend: write block_size_tokens as one of 1, 2, 4, 8, 16, 32, 64, 128, 256, 512"#]],
    );
}
