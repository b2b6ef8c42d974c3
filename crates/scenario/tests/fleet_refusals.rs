//! What is refused of several workers, and with which words.

mod refused;

use expect_test::expect;
use refused::{HEAD, refused};
use tierscope_scenario::parse_any;

const SPLIT: &str = "[workers]\nprefill = 1\ndecode = 1\n";

#[test]
fn tables_need_their_workers() {
    refused(
        "[router]\n[handoff]\n[[worker]]\n[[message_fault]]\n[links.handoff]\n",
        expect![[r#"
            error: router: found the key router, expected it only beside workers
              --> scenario:7:2
              mend: add [workers] with count = 2, or remove it
            error: handoff: found the key handoff, expected it only beside workers
              --> scenario:8:2
              mend: add [workers] with count = 2, or remove it
            error: worker: found the key worker, expected it only beside workers
              --> scenario:9:3
              mend: add [workers] with count = 2, or remove it
            error: message_fault: found the key message_fault, expected it only beside workers
              --> scenario:10:3
              mend: add [workers] with count = 2, or remove it
            error: links: found the key links, expected it only beside g2, or prefill and decode workers
              --> scenario:11:2
              mend: add [g2] with blocks = 1000, or [workers] with prefill = 1 and decode = 1, or remove it"#]],
    );
    refused(
        "[workers]\ncount = 2\ndecode_g1_blocks = 7\n[handoff]\n[[message_fault]]\n[links.handoff]\n",
        expect![[r#"
            error: workers.decode_g1_blocks: found the key decode_g1_blocks, expected it only beside workers.prefill and workers.decode
              --> scenario:9:1
              mend: write these two instead of workers.count, or remove it
            error: handoff: found the key handoff, expected it only beside workers.prefill and workers.decode
              --> scenario:10:2
              mend: write these two instead of workers.count, or remove it
            error: message_fault: found the key message_fault, expected it only beside workers.prefill and workers.decode
              --> scenario:11:3
              mend: write these two instead of workers.count, or remove it
            error: links: found the key links, expected it only beside g2, or prefill and decode workers
              --> scenario:12:2
              mend: add [g2] with blocks = 1000, or [workers] with prefill = 1 and decode = 1, or remove it"#]],
    );
    refused(
        "[workers]\ncount = 2\n[g2]\nblocks = 5\n[links.handoff]\n[[fault]]\nlane = 'handoff'\nkind = 'fail'\nnth = 1\n",
        expect![[r#"
            error: links.handoff: found the key handoff, expected it only beside workers.prefill and workers.decode
              --> scenario:11:8
              mend: write these two instead of workers.count, or remove it
            error: fault[0].lane: found "handoff", expected a lane of the scenario, which has no handoffs
              --> scenario:13:8
              mend: add [workers] with prefill = 1 and decode = 1, or name another lane"#]],
    );
    refused(
        &format!(
            "{SPLIT}[g3]\nblocks = 1\n[links.pcie]\n[[fault]]\nlane = 'g1_g2'\nkind = 'fail'\nnth = 1\n"
        ),
        expect![[r#"
            error: g3: found the key g3, expected it only beside g2
              --> scenario:10:2
              mend: add [g2] with blocks = 1000, or remove it
            error: links.pcie: found the key pcie, expected it only beside g2
              --> scenario:12:8
              mend: add [g2], or remove it
            error: fault[0].lane: found "g1_g2", expected a lane between tiers of the scenario
              --> scenario:14:8
              mend: add [g2], or name another lane"#]],
    );
}

#[test]
fn numbers_of_workers_are_checked() {
    refused(
        "[workers]\n[router]\nkind = 'fastest'\n[[worker]]\nworker = 4096\n",
        expect![[r#"
        error: workers.count: found no such key, expected how many workers there are
          --> scenario:7:1
          mend: add count = 4, or prefill = 2 and decode = 2
        error: router.kind: found "fastest", expected "round_robin", "least_loaded" or "kv_aware"
          --> scenario:9:8
          mend: write kind = "round_robin" or another of these
        error: worker[0].at_ms: found no such key, expected when it happens
          --> scenario:10:1
          mend: add at_ms = 1000
        error: worker[0].change: found no such key, expected what becomes of the worker
          --> scenario:10:1
          mend: add change = "lose"
        error: worker[0].worker: found 4096, expected a whole number from 0 to 4095
          --> scenario:11:10
          mend: write 4095 or less"#]],
    );
    refused(
        "[workers]\nprefill = 2\n",
        expect![[r#"
        error: workers.decode: found no such key, expected some decode workers beside those of prefill, to answer what is computed
          --> scenario:7:1
          mend: add decode = 1, or write count instead of prefill"#]],
    );
    refused(
        "[workers]\ndecode = 2\ncount = 3\n",
        expect![[r#"
        error: workers.prefill: found no such key, expected some prefill workers beside those of decode, to compute prompts
          --> scenario:7:1
          mend: add prefill = 1, or write count instead of decode
        error: workers.count: found the key count, expected either count, or prefill and decode
          --> scenario:9:1
          mend: keep one of the two ways"#]],
    );
}

#[test]
fn sizes_of_workers_are_checked() {
    refused(
        "[workers]\ncount = 4097\nper_host = 0\nstartup_ms = -1\n",
        expect![[r#"
        error: workers.count: found 4097, expected a whole number from 1 to 4096
          --> scenario:8:9
          mend: write 4096 or less
        error: workers.per_host: found 0, expected a whole number from 1 to 4096
          --> scenario:9:12
          mend: write 1 or more
        error: workers.startup_ms: found -1, expected a number from 0 to 86400000
          --> scenario:10:14
          mend: write 0 or more"#]],
    );
    refused(
        "[workers]\nprefill = 4000\ndecode = 97\nper_host = 4097\n",
        expect![[r#"
        error: workers.decode: found 97, expected at most 4096 workers in all
          --> scenario:9:10
          mend: lower it, or prefill
        error: workers.per_host: found 4097, expected a whole number from 1 to 4096
          --> scenario:10:12
          mend: write 4096 or less"#]],
    );
    refused(
        "[workers]\ncount = 3\nabsent = [3, 1, 1, -1, 'all', 2.0]\n",
        expect![[r#"
        error: workers.absent[0]: found 3, expected a worker's number from 0 to 2
          --> scenario:9:11
          mend: write 2 or less
        error: workers.absent[2]: found 1, expected each worker once
          --> scenario:9:17
          mend: remove it
        error: workers.absent[3]: found -1, expected a worker's number from 0 to 2
          --> scenario:9:20
          mend: write 0 or more
        error: workers.absent[4]: found "all", expected a worker's number from 0 to 2
          --> scenario:9:24
          mend: write a number, for example 1
        error: workers.absent[5]: found 2.0, expected a worker's number from 0 to 2
          --> scenario:9:31
          mend: write 2 without a point or an exponent"#]],
    );
}

/// What depends on workers is not refused once more.
#[test]
fn workers_that_are_no_table_are_refused_once() {
    let text = HEAD.replace("= 1\n[engine]", "= 1\nworkers = 4\n[engine]");
    let problems = parse_any(&format!("{text}[router]\n[handoff]\n")).expect_err("workers is no table");
    assert_eq!(problems.len(), 1);
    expect![[r#"
        error: workers: found 4, expected a table
          --> scenario:2:11
          mend: write [workers] and its keys below"#]]
    .assert_eq(&problems[0].to_string());
}

/// Each slot of G1 takes memory at once.
#[test]
fn blocks_of_all_workers_together_are_bounded() {
    let fits = |tables: &str| {
        parse_any(&format!("{HEAD}{tables}").replace("_tokens = 4\n", "_tokens = 4\ng1_blocks = 16384\n"))
    };
    assert!(fits("[workers]\ncount = 4096\n").is_ok());
    assert!(fits("[workers]\nprefill = 2048\ndecode = 2048\ndecode_g1_blocks = 16384\n").is_ok());
    assert!(fits("[workers]\nprefill = 2048\ndecode = 2048\ndecode_g1_blocks = 16385\n").is_err());
    refused(
        "[workers]\nprefill = 1\ndecode = 4\ndecode_g1_blocks = 16777217\n",
        expect![[r#"
        error: workers.prefill: found 5 workers with 67125252 blocks of G1 in all, expected at most 67108864 blocks
          --> scenario:8:11
          mend: write fewer workers, or lower engine.g1_blocks"#]],
    );
    let large = "[workers]\ncount = 3\n[hardware]\nmodel = 'llama-3.1-8b'\ngpu = 'h200'\n";
    assert!(parse_any(&format!("{HEAD}{large}")).is_ok());
    refused(
        &large.replace("= 3", "= 4096"),
        expect![[r#"
        error: workers.count: found 4096 workers with 865935360 blocks of G1 in all, expected at most 67108864 blocks
          --> scenario:8:9
          mend: write fewer workers, or lower engine.g1_blocks"#]],
    );
}

#[test]
fn a_router_is_checked() {
    refused(
        "[workers]\ncount = 2\n[router]\nkind = 'kv_awar'\nreplicas = 1025\nsync_ms = 3\npublish = 'start'\n\
         event_delay_ms = 1e9\nexpiry_s = 0\ntemperature = 0.5\nzebra = 1\n",
        expect![[r#"
            error: router.kind: found "kv_awar", expected "round_robin", "least_loaded" or "kv_aware"
              --> scenario:10:8
              mend: did you mean "kv_aware"?
            error: router.replicas: found 1025, expected a whole number from 1 to 1024
              --> scenario:11:12
              mend: write 1024 or less
            error: router.sync_ms: found the key sync_ms, expected it only beside replicas
              --> scenario:12:1
              mend: add replicas = 2, or remove it
            error: router.publish: found "start", expected "pass_start" or "pass_end"
              --> scenario:13:11
              mend: write publish = "pass_start" or another of these
            error: router.event_delay_ms: found 1000000000.0, expected a number from 0 to 86400000
              --> scenario:14:18
              mend: write 86400000 or less
            error: router.expiry_s: found 0, expected a number from 0.001 to 86400
              --> scenario:15:12
              mend: write 0.001 or more
            error: router.temperature: found the key temperature, expected it only beside kind = "kv_aware"
              --> scenario:16:1
              mend: write kind = "kv_aware", or remove it
            error: router.zebra: found the unknown key "zebra", expected a key of [router]
              --> scenario:17:1
              mend: remove it; the keys here are kind, expiry_s, replicas, sync_ms, publish, event_delay_ms, overlap_score_credit, overlap_score_credit_decay, host_cache_hit_weight, disk_cache_hit_weight, shared_cache_multiplier, prefill_load_scale, decode_active_request_weight, temperature"#]],
    );
    refused(
        "[workers]\ncount = 2\n[router]\nkind = 'kv_aware'\nreplicas = 0\nexpiry_s = 86401\noverlap_score_credit = -1\n\
         temperature = 1e10\nprefill_load_scale = nan\n",
        expect![[r#"
            error: router.replicas: found 0, expected a whole number from 1 to 1024
              --> scenario:11:12
              mend: write 1 or more
            error: router.expiry_s: found 86401, expected a number from 0.001 to 86400
              --> scenario:12:12
              mend: write 86400 or less
            error: router.overlap_score_credit: found -1, expected a number from 0 to 1000000000
              --> scenario:13:24
              mend: write 0 or more
            error: router.temperature: found 10000000000.0, expected a number from 0 to 1000000000
              --> scenario:14:15
              mend: write 1000000000 or less
            error: router.prefill_load_scale: found NaN, expected a number from 0 to 1000000000
              --> scenario:15:22
              mend: write a number that is one"#]],
    );
    refused(
        "[workers]\ncount = 4096\n[router]\nreplicas = 257\n",
        expect![[r#"
        error: router.replicas: found 257, expected at most 256 replicas for 4096 workers
          --> scenario:10:12
          mend: lower it, or write fewer workers"#]],
    );
    refused(
        "[workers]\ncount = 2\n[router]\nsync_ms = 3\nprefill_load_scale = 2\n",
        expect![[r#"
        error: router.sync_ms: found the key sync_ms, expected it only beside replicas
          --> scenario:10:1
          mend: add replicas = 2, or remove it
        error: router.prefill_load_scale: found the key prefill_load_scale, expected it only beside kind = "kv_aware"
          --> scenario:11:1
          mend: write kind = "kv_aware", or remove it"#]],
    );
}

#[test]
fn changes_are_checked() {
    refused(
        "[workers]\ncount = 2\n[[worker]]\n[[worker]]\nat_ms = -1\nworker = 2\nchange = 'stop'\nwhy = 1\n",
        expect![[r#"
            error: worker[0].at_ms: found no such key, expected when it happens
              --> scenario:9:1
              mend: add at_ms = 1000
            error: worker[0].worker: found no such key, expected the number of a worker
              --> scenario:9:1
              mend: add worker = 0
            error: worker[0].change: found no such key, expected what becomes of the worker
              --> scenario:9:1
              mend: add change = "lose"
            error: worker[1].at_ms: found -1, expected a number from 0 to 315360000000
              --> scenario:11:9
              mend: write 0 or more
            error: worker[1].worker: found 2, expected a whole number from 0 to 1
              --> scenario:12:10
              mend: write 1 or less
            error: worker[1].change: found "stop", expected "start", "drain" or "lose"
              --> scenario:13:10
              mend: write change = "start" or another of these
            error: worker[1].why: found the unknown key "why", expected a key of [worker[1]]
              --> scenario:14:1
              mend: remove it; the keys here are at_ms, worker, change"#]],
    );
}

/// The tables of some changes.
fn changes(list: &[(u64, u16, &str)]) -> String {
    list.iter()
        .map(|(at, worker, change)| {
            format!("[[worker]]\nat_ms = {at}\nworker = {worker}\nchange = '{change}'\n")
        })
        .collect()
}

#[test]
fn changes_that_cannot_be_are_refused() {
    let workers = "[workers]\ncount = 3\nabsent = [2]\nstartup_ms = 5\n";
    let text = changes(&[
        (1, 0, "start"),
        (2, 2, "drain"),
        (3, 2, "lose"),
        (4, 2, "start"),
        (9, 2, "drain"),
        (10, 1, "drain"),
        (11, 1, "drain"),
        (12, 1, "lose"),
        (13, 1, "lose"),
    ]);
    refused(
        &format!("{workers}{text}"),
        expect![[r#"
        error: worker[0]: found the start of worker 0, which is there, expected the start of a worker that is not there
          --> scenario:11:1
          mend: add it to workers.absent, lose or drain it before, or remove the start
        error: worker[1]: found the draining of worker 2, which is absent, expected the draining of a worker that is there
          --> scenario:15:1
          mend: start it before, or remove the draining
        error: worker[2]: found the loss of worker 2, which is absent, expected the loss of a worker that is there
          --> scenario:19:1
          mend: start it before, or remove the loss
        error: worker[4]: found the draining of worker 2, which is ready at 9 ms, expected the draining of a worker that is ready
          --> scenario:27:1
          mend: raise at_ms past its start and startup_ms, or write "lose"
        error: worker[6]: found the draining of worker 1, which drains already, expected the draining of a worker that is there
          --> scenario:35:1
          mend: start it before, or remove the draining
        error: worker[8]: found the loss of worker 1, which is lost, expected the loss of a worker that is there
          --> scenario:43:1
          mend: start it before, or remove the loss"#]],
    );
    // By time, not as written.
    refused(
        &format!("{workers}{}", changes(&[(5, 0, "start"), (9, 0, "lose")])),
        expect![[r#"
        error: worker[0]: found the start of worker 0, which is there, expected the start of a worker that is not there
          --> scenario:11:1
          mend: add it to workers.absent, lose or drain it before, or remove the start"#]],
    );
    let many = changes(&[(1, 0, "lose")]).repeat(4_097);
    refused(
        &format!("[workers]\ncount = 1\n{many}"),
        expect![[r#"
        error: worker: found an array of 4097, expected at most 4096 changes
          --> scenario:9:1
          mend: write fewer of them"#]],
    );
}
