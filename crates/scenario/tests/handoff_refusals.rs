//! What is refused of handoffs, their link and their messages, and with which words.

mod refused;

use expect_test::expect;
use refused::{HEAD, refused};
use tierscope_scenario::parse_any;

const SPLIT: &str = "[workers]\nprefill = 1\ndecode = 1\n";

#[test]
fn handoffs_are_checked() {
    refused(
        &format!(
            "{SPLIT}[handoff]\norder = 'source'\nbytes = 'all'\ntransfer = 'layers'\nlayers = 0\nlease_s = 'ever'\nmessage_delay_ms = -1\n"
        ),
        expect![[r#"
            error: handoff.order: found "source", expected "source_first" or "destination_first"
              --> scenario:11:9
              mend: did you mean "source_first"?
            error: handoff.bytes: found "all", expected "destination_missing" or "full_prompt"
              --> scenario:12:9
              mend: write bytes = "destination_missing" or another of these
            error: handoff.transfer: found "layers", expected "whole" beside order = "source_first": layers move while the prompt is computed, and where to must be known before (rule H1)
              --> scenario:13:12
              mend: write order = "destination_first", or remove it
            error: handoff.layers: found 0, expected a whole number from 1 to 1024
              --> scenario:14:10
              mend: write 1 or more
            error: handoff.lease_s: found "ever", expected seconds from 0 to 86400, or "never"
              --> scenario:15:11
              mend: write a number, for example 1
            error: handoff.message_delay_ms: found -1, expected a number from 0 to 86400000
              --> scenario:16:20
              mend: write 0 or more"#]],
    );
    refused(
        &format!("{SPLIT}[handoff]\nlayers = 32\nlease_s = 1e5\nzebra = 1\n"),
        expect![[r#"
        error: handoff.layers: found the key layers, expected it only beside transfer = "layers"
          --> scenario:11:1
          mend: write transfer = "layers", or remove it
        error: handoff.lease_s: found 100000.0, expected seconds from 0 to 86400, or "never"
          --> scenario:12:11
          mend: write 86400 or less
        error: handoff.zebra: found the unknown key "zebra", expected a key of [handoff]
          --> scenario:13:1
          mend: remove it; the keys here are order, bytes, transfer, layers, lease_s, message_delay_ms"#]],
    );
    refused(
        &format!(
            "{SPLIT}[links.handoff]\npreset = 'nic_400'\ngb_per_s = 0\nlatency_us = 1e9\nshared_by = 'host'\nup_gb_per_s = 1\n"
        ),
        expect![[r#"
            error: links.handoff.preset: found "nic_400", expected the name of a preset of this link
              --> scenario:11:10
              mend: did you mean "nic_400g"? There are nic_400g, nvlink4
            error: links.handoff.gb_per_s: found 0, expected a number from 0.000001 to 1000000
              --> scenario:12:12
              mend: write 0.000001 or more
            error: links.handoff.latency_us: found 1000000000.0, expected a number from 0 to 60000000
              --> scenario:13:14
              mend: write 60000000 or less
            error: links.handoff.shared_by: found "host", expected "source", "destination" or "all"
              --> scenario:14:13
              mend: write shared_by = "source" or another of these
            error: links.handoff.up_gb_per_s: found the unknown key "up_gb_per_s", expected a key of [links.handoff]
              --> scenario:15:1
              mend: remove it; the keys here are preset, gb_per_s, latency_us, shared_by"#]],
    );
}

/// What a decode worker computes with did not come through its connector.
#[test]
fn vllms_connector_knows_no_handoffs() {
    refused(
        &format!("{SPLIT}[g2]\nblocks = 8\n[offload]\nflavour = 'vllm'\n"),
        expect![[r#"
        error: offload.flavour: found "vllm", expected "kvbm" beside prefill and decode workers: what a decode worker has comes by handoff, not through the connector
          --> scenario:13:11
          mend: write flavour = "kvbm", or workers.count"#]],
    );
    let whole = format!("{HEAD}[workers]\ncount = 2\n[g2]\nblocks = 8\n[offload]\nflavour = 'vllm'\n");
    assert!(parse_any(&whole).is_ok());
}

#[test]
fn faults_of_messages_are_checked() {
    refused(
        &format!(
            "{SPLIT}[[message_fault]]\n[[message_fault]]\nmessage = 'recieved'\nrequest = -1\nafter = -1\ncount = 0\nfate = 'late'\n\
             [[message_fault]]\nfate = 'lost'\ndelay_ms = 1\n[[message_fault]]\nfate = 'doubled'\ndelay_ms = 1e9\nkind = 1\n"
        ),
        expect![[r#"
            error: message_fault[0].fate: found no such key, expected what becomes of the message
              --> scenario:10:1
              mend: add fate = "lost"
            error: message_fault[1].delay_ms: found no such key, expected how much later the message comes
              --> scenario:11:1
              mend: add delay_ms = 5
            error: message_fault[1].message: found "recieved", expected "prefilled", "reserved" or "received"
              --> scenario:12:11
              mend: did you mean "received"?
            error: message_fault[1].request: found -1, expected a whole number from 0 to 9999999
              --> scenario:13:11
              mend: write 0 or more
            error: message_fault[1].after: found -1, expected a whole number from 0 to 4294967295
              --> scenario:14:9
              mend: write 0 or more
            error: message_fault[1].count: found 0, expected a whole number from 1 to 4294967295
              --> scenario:15:9
              mend: write 1 or more
            error: message_fault[2].delay_ms: found the key delay_ms, expected it only beside fate = "doubled" or "late"
              --> scenario:19:1
              mend: write fate = "late", or remove it
            error: message_fault[3].delay_ms: found 1000000000.0, expected a number from 0 to 86400000
              --> scenario:22:12
              mend: write 86400000 or less
            error: message_fault[3].kind: found the unknown key "kind", expected a key of [message_fault[3]]
              --> scenario:23:1
              mend: remove it; the keys here are message, request, after, count, fate, delay_ms"#]],
    );
    let requests = HEAD.replace(
        "'trace'\nfile = 't.jsonl'",
        "'requests'\nrequest = [{ prompt_tokens = 1, output_tokens = 1 }]",
    );
    let fault = |request| format!("{requests}{SPLIT}[[message_fault]]\nrequest = {request}\nfate = 'lost'\n");
    assert!(parse_any(&fault(0)).is_ok());
    let problems = parse_any(&fault(1)).expect_err("there is one request");
    expect![[r#"
        error: message_fault[0].request: found 1, expected a whole number from 0 to 0
          --> scenario:11:11
          mend: write 0 or less"#]]
    .assert_eq(&problems[0].to_string());
    let many = "[[message_fault]]\nfate = 'lost'\n".repeat(257);
    refused(
        &format!("{SPLIT}{many}"),
        expect![[r#"
        error: message_fault: found an array of 257, expected at most 256 faults
          --> scenario:10:1
          mend: let one strike more messages, by count"#]],
    );
}
