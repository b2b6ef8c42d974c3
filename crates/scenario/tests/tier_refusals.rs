//! What lies below G1 and is refused, and with which words.

mod refused;

use expect_test::expect;
use refused::refused;

#[test]
fn tables_below_g1_need_their_tiers() {
    refused(
        "[g3]\nblocks = 1\n[g4]\nblocks = 1\n[offload]\n[lanes.g1_g2]\n[links.pcie]\n[[fault]]\nlane = 'g1_g2'\n",
        expect![[r#"
            error: g3: found the key g3, expected it only beside g2
              --> scenario:7:2
              mend: add [g2] with blocks = 1000, or remove it
            error: g4: found the key g4, expected it only beside g2
              --> scenario:9:2
              mend: add [g2] with blocks = 1000, or remove it
            error: offload: found the key offload, expected it only beside g2
              --> scenario:11:2
              mend: add [g2] with blocks = 1000, or remove it
            error: lanes: found the key lanes, expected it only beside g2
              --> scenario:12:2
              mend: add [g2] with blocks = 1000, or remove it
            error: links: found the key links, expected it only beside g2, or prefill and decode workers
              --> scenario:13:2
              mend: add [g2] with blocks = 1000, or [workers] with prefill = 1 and decode = 1, or remove it
            error: fault: found the key fault, expected it only beside g2, or prefill and decode workers
              --> scenario:14:3
              mend: add [g2] with blocks = 1000, or [workers] with prefill = 1 and decode = 1, or remove it"#]],
    );
    refused(
        "[g2]\nblocks = 1\n[lanes.g2_g3]\n[lanes.g4_g2]\n[links.disk]\n[links.object]\n\
         [[fault]]\nlane = 'g2_g3'\nkind = 'fail'\nnth = 1\n",
        expect![[r#"
            error: lanes.g2_g3: found the key g2_g3, expected it only beside g3
              --> scenario:9:8
              mend: add [g3], or remove it
            error: lanes.g4_g2: found the key g4_g2, expected it only beside g4
              --> scenario:10:8
              mend: add [g4], or remove it
            error: links.disk: found the key disk, expected it only beside g3
              --> scenario:11:8
              mend: add [g3], or remove it
            error: links.object: found the key object, expected it only beside g4
              --> scenario:12:8
              mend: add [g4], or remove it
            error: fault[0].lane: found "g2_g3", expected a lane between tiers of the scenario
              --> scenario:14:8
              mend: add [g3], or name another lane"#]],
    );
}

#[test]
fn sizes_of_tiers_are_checked() {
    refused(
        "[g2]\n[g3]\nblocks = 1\ngib = 2\n[g4]\nblocks = 16777217\n",
        expect![[r#"
        error: g2.blocks: found no such key, expected how large the tier is
          --> scenario:7:1
          mend: add blocks = 1000, or gib = 64.0
        error: g3.gib: found the key gib, expected either blocks or gib
          --> scenario:10:1
          mend: remove one of the two
        error: g4.blocks: found 16777217, expected a whole number from 1 to 16777216
          --> scenario:12:10
          mend: write 16777216 or less"#]],
    );
    refused(
        "[g2]\ngib = 0.0001\neviction = 'lfu'\n[g3]\ngib = 1e9\n[g4]\nblocks = 0\n",
        expect![[r#"
        error: g2.gib: found 0.0001, expected room for 1 to 16777216 blocks of 512.0 KiB
          --> scenario:8:7
          mend: write a larger number, or blocks
        error: g2.eviction: found "lfu", expected "lru", "lineage" or "tinylfu"
          --> scenario:9:12
          mend: did you mean "lru"?
        error: g3.gib: found 1000000000.0, expected room for 1 to 16777216 blocks of 512.0 KiB
          --> scenario:11:7
          mend: write a smaller number, or blocks
        error: g4.blocks: found 0, expected a whole number from 1 to 16777216
          --> scenario:13:10
          mend: write 1 or more"#]],
    );
}

#[test]
fn policies_without_meaning_are_refused() {
    refused(
        "[g2]\nblocks = 2\n[offload]\nstore = 'on_compute'\nstore_hits = 2\nholds = 'exclusive'\nboundary_blocks = 3\n\
         load = 'allways'\nwaiters = 1\npin_finished_ms = -1\nchunk_eviction = 'arc'\nprompt_only = 'no'\nzebra = 1\n",
        expect![[r#"
            error: offload.store_hits: found the key store_hits, expected it only beside store = "on_hit"
              --> scenario:11:1
              mend: write store = "on_hit", or remove it
            error: offload.boundary_blocks: found the key boundary_blocks, expected it only beside holds = "boundary"
              --> scenario:13:1
              mend: write holds = "boundary", or remove it
            error: offload.load: found "allways", expected "always", "never" or "sooner"
              --> scenario:14:8
              mend: did you mean "always"?
            error: offload.waiters: found 1, expected text
              --> scenario:15:11
              mend: put it in quotation marks: waiters = "…"
            error: offload.pin_finished_ms: found -1, expected a number from 0 to 86400000
              --> scenario:16:19
              mend: write 0 or more
            error: offload.chunk_eviction: found the key chunk_eviction, expected it only beside flavour = "vllm"
              --> scenario:17:1
              mend: write flavour = "vllm", or remove it
            error: offload.prompt_only: found the key prompt_only, expected it only beside flavour = "vllm"
              --> scenario:18:1
              mend: write flavour = "vllm", or remove it
            error: offload.prompt_only: found "no", expected true or false
              --> scenario:18:15
              mend: write prompt_only = true or prompt_only = false, without quotation marks
            error: offload.zebra: found the unknown key "zebra", expected a key of [offload]
              --> scenario:19:1
              mend: remove it; the keys here are flavour, chunk_eviction, store_threshold, blocks_per_chunk, prompt_only, sync_load_budget_tokens, store_hits, store, boundary_blocks, holds, load, waiters, onboard_gate, pressure, pin_finished_ms"#]],
    );
    refused(
        "[g2]\nblocks = 2\n[g3]\nblocks = 2\n[offload]\nflavour = 'vllm'\nstore = 'on_eviction'\nholds = 'exclusive'\n\
         blocks_per_chunk = 3\n",
        expect![[r#"
            error: g3: found the key g3, expected one tier, g2, under the flavour "vllm"
              --> scenario:9:2
              mend: remove it, or write flavour = "kvbm"
            error: offload.store: found "on_eviction", expected "on_compute" under the flavour "vllm"
              --> scenario:13:9
              mend: remove it, or write flavour = "kvbm"
            error: offload.holds: found "exclusive", expected "inclusive" under the flavour "vllm"
              --> scenario:14:9
              mend: remove it, or write flavour = "kvbm"
            error: offload.blocks_per_chunk: found 3, expected at most the 2 blocks of g2
              --> scenario:15:20
              mend: lower it, or enlarge g2"#]],
    );
}

#[test]
fn lanes_and_links_are_checked() {
    refused(
        "[g2]\nblocks = 2\n[lanes.g1_g2]\nmax_concurrent = 0\nbatch_blocks = 0\nmin_uses = 3\nbackoff_ms = 3\ntimeout_ms = 0\n\
         [lanes.g1_g3]\n[lanes.g2_g1]\nfilter = 'frequency'\nmin_uses = 16\nflush_after_ms = 1e9\nretries = -1\n",
        expect![[r#"
            error: lanes.g1_g2.max_concurrent: found 0, expected a whole number from 1 to 1024
              --> scenario:10:18
              mend: write 1 or more
            error: lanes.g1_g2.batch_blocks: found 0, expected a whole number from 1 to 65536
              --> scenario:11:16
              mend: write 1 or more
            error: lanes.g1_g2.min_uses: found the key min_uses, expected it only beside filter = "frequency"
              --> scenario:12:1
              mend: write filter = "frequency", or remove it
            error: lanes.g1_g2.backoff_ms: found the key backoff_ms, expected it only beside retries
              --> scenario:13:1
              mend: add retries = 3, or remove it
            error: lanes.g1_g2.timeout_ms: found 0, expected a number from 0.000001 to 86400000
              --> scenario:14:14
              mend: write 0.000001 or more
            error: lanes.g1_g3: found the unknown key "g1_g3", expected a key of [lanes]
              --> scenario:15:8
              mend: did you mean g1_g2?
            error: lanes.g2_g1.min_uses: found 16, expected a whole number from 1 to 15
              --> scenario:18:12
              mend: write 15 or less
            error: lanes.g2_g1.flush_after_ms: found 1000000000.0, expected a number from 0 to 86400000
              --> scenario:19:18
              mend: write 86400000 or less
            error: lanes.g2_g1.retries: found -1, expected a whole number from 0 to 1000
              --> scenario:20:11
              mend: write 0 or more"#]],
    );
    refused(
        "[g2]\nblocks = 2\n[links.pcie]\npreset = 'pcie6'\ndown_gb_per_s = 0\nup_gb_per_s = 10\nup_with_down_gb_per_s = 11\n\
         latency_us = -1\n[links.nic]\n",
        expect![[r#"
            error: links.pcie.preset: found "pcie6", expected the name of a preset of this link
              --> scenario:10:10
              mend: did you mean "pcie5"? There are pcie4, pcie5, c2c
            error: links.pcie.down_gb_per_s: found 0, expected a number from 0.000001 to 1000000
              --> scenario:11:17
              mend: write 0.000001 or more
            error: links.pcie.up_with_down_gb_per_s: found 11, expected at most up_gb_per_s, which is 10
              --> scenario:13:25
              mend: lower it, or raise up_gb_per_s
            error: links.pcie.latency_us: found -1, expected a number from 0 to 60000000
              --> scenario:14:14
              mend: write 0 or more
            error: links.nic: found the unknown key "nic", expected a key of [links]
              --> scenario:15:8
              mend: remove it; the keys here are pcie, disk, object, handoff"#]],
    );
}

#[test]
fn faults_say_what_goes_wrong_and_when() {
    refused(
        "[g2]\nblocks = 2\n[[fault]]\n[[fault]]\nlane = 'g1_g2'\nkind = 'stall'\nnth = 1\nevery = 2\nuntil_ms = 3\n\
         [[fault]]\nlane = 'g2_g1'\nkind = 'slow'\nfrom_ms = 5\nuntil_ms = 5\n\
         [[fault]]\nlane = 'g1'\nkind = 'fails'\nrate = 1e-9\nfactor = 2\nstall_ms = 1\n\
         [[fault]]\nlane = 'g1_g2'\nkind = 'slow'\nfactor = 0.5\nnth = 0\n",
        expect![[r#"
            error: fault[0].lane: found no such key, expected the lane whose copies it strikes
              --> scenario:9:1
              mend: add lane = "g1_g2"
            error: fault[0].kind: found no such key, expected what goes wrong
              --> scenario:9:1
              mend: add kind = "fail"
            error: fault[0].nth: found no such key, expected one of nth, every, from_ms and rate
              --> scenario:9:1
              mend: add nth = 1, every = 10, from_ms = 0 or rate = 0.01
            error: fault[1].stall_ms: found no such key, expected how much later the copy begins
              --> scenario:10:1
              mend: add stall_ms = 100
            error: fault[1].every: found the key every, expected one of nth, every, from_ms and rate
              --> scenario:14:1
              mend: keep one of them
            error: fault[1].until_ms: found the key until_ms, expected it only beside from_ms
              --> scenario:15:1
              mend: add from_ms = 0, or remove it
            error: fault[2].factor: found no such key, expected how many times as long the copy takes
              --> scenario:16:1
              mend: add factor = 2.0
            error: fault[2].until_ms: found 5, expected a time after from_ms
              --> scenario:20:12
              mend: raise it, or lower from_ms
            error: fault[3].lane: found "g1", expected "g1_g2", "g2_g3", "g2_g4", "g2_g1", "g3_g2", "g4_g2" or "handoff"
              --> scenario:22:8
              mend: did you mean "g1_g2"?
            error: fault[3].kind: found "fails", expected "fail", "stall", "slow", "lose" or "corrupt"
              --> scenario:23:8
              mend: did you mean "fail"?
            error: fault[3].rate: found 1e-9, expected 0, or 0.000001 to 1
              --> scenario:24:8
              mend: write 0.000001 or more
            error: fault[3].factor: found the key factor, expected it only beside kind = "slow"
              --> scenario:25:1
              mend: write kind = "slow", or remove it
            error: fault[3].stall_ms: found the key stall_ms, expected it only beside kind = "stall"
              --> scenario:26:1
              mend: write kind = "stall", or remove it
            error: fault[4].factor: found 0.5, expected a number from 1 to 1000000
              --> scenario:30:10
              mend: write 1 or more
            error: fault[4].nth: found 0, expected a whole number from 1 to 9223372036854775807
              --> scenario:31:7
              mend: write 1 or more"#]],
    );
    let many = "[[fault]]\nlane = 'g1_g2'\nkind = 'fail'\nnth = 1\n".repeat(257);
    refused(
        &format!("[g2]\nblocks = 2\n{many}"),
        expect![[r#"
        error: fault: found an array of 257, expected at most 256 faults
          --> scenario:9:1
          mend: use every, rate or from_ms"#]],
    );
}
