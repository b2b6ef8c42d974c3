// Import: what people paste and drop, good and hostile; and traces, from the drop to the native digest.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";

import { digestOf, linkOf, read, ROOT, until, visit } from "./page.mjs";

const TRACE = process.env.TIERSCOPE_TRACE ?? path.join(ROOT, "../shared/data/traces/mooncake/conversation_trace.jsonl");
const COMMAND = `vllm serve Qwen/Qwen3-8B \\
  --max-model-len 32k --max-num-seqs 64 \\
  --num-gpu-blocks-override 4000 --swap-space 4 --port 8000 \\
  --kv-transfer-config '{"kv_connector": "OffloadingConnector", "kv_connector_extra_config": {"cpu_bytes_to_use": 8589934592}}'`;
const DYNAMO = '{"num_gpu_blocks": 2048, "block_size": 64, "max_num_seqs": 32, "num_g2_blocks": 4096, "bandwidth_g1_to_g2_gbps": 40.0}';
const LMCACHE = "chunk_size: 256\nlocal_cpu: true\nmax_local_cpu_size: 20\nlocal_disk: file:///ssd/\nmax_local_disk_size: 100\n";

/** A small trace of so many requests. */
function trace(requests) {
  const row = (at) => JSON.stringify({ timestamp: at * 50, input_length: 900, output_length: 6, hash_ids: [at % 7, 100 + at] });
  return Array.from({ length: requests }, (_, at) => row(at)).join("\n") + "\n";
}

/** Drags a file over the page and lets it go there. */
export async function drop(page, name, content) {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(content);
  const base64 = bytes.toString("base64");
  const transfer = await page.evaluateHandle(
    async ({ name, base64 }) => {
      const text = atob(base64);
      const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name));
      return transfer;
    },
    { name, base64 },
  );
  await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
  await page.locator("#drop-overlay").waitFor();
  await page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await page.locator("#drop-overlay").waitFor({ state: "detached" });
}

const sentence = (page) => page.locator("#import-sentence").textContent();

async function open(world) {
  const visited = await visit(world);
  await digestOf(visited.page);
  return visited;
}

/** Closes the dialog, and shows that the page works: another case runs. */
async function goesOn(page) {
  await page.keyboard.press("Escape");
  await page.locator("#import-dialog").waitFor({ state: "detached" });
  await page.selectOption("#case", "preemption");
  assert.match(await digestOf(page), /^[0-9a-f]{32}$/);
  await page.selectOption("#case", "first-steps");
  await digestOf(page);
}

export const tests = {
  async "a vllm serve command is pasted, explained, and runs"(world) {
    const { page, faults, close } = await open(world);
    await page.locator("body").press("i");
    await page.locator("#import-text").fill(COMMAND);
    await until(page, () => /^Recognized: vllm serve command/.test(document.querySelector("#import-sentence")?.textContent));
    const notes = (await page.locator("#import-notes li").allTextContents()).join("\n");
    assert.match(notes, /taken.*--max-num-seqs 64 → engine\.max_num_seqs = 64 line 2/);
    assert.match(notes, /left out.*--swap-space 4 → vLLM V1 does not swap/);
    assert.match(notes, /assumed.*hardware\.gpu = "h100-sxm"/);
    await page.click("#import-use");
    await page.locator("#import-dialog").waitFor({ state: "detached" });
    assert.match(await digestOf(page), /^[0-9a-f]{32}$/);
    const text = await read(page);
    assert.match(text, /g1_blocks = 3999/);
    assert.match(text, /flavour = "vllm"/);
    assert.equal(await page.locator("#outcome").textContent(), "finished");
    assert.deepEqual(faults, []);
    await close();
  },

  async "Dynamo arguments and an LMCache file are dropped"(world) {
    const { page, faults, close } = await open(world);
    await drop(page, "engine-args.json", DYNAMO);
    await until(page, () => /Dynamo engine arguments/.test(document.querySelector("#import-sentence")?.textContent));
    await page.click("#import-use");
    assert.match(await digestOf(page), /^[0-9a-f]{32}$/);
    assert.match(await read(page), /\[g2\]\nblocks = 4096/);
    await drop(page, "lmcache.yaml", LMCACHE);
    await until(page, () => /LMCache configuration/.test(document.querySelector("#import-sentence")?.textContent));
    assert.match(await page.locator("#import-notes").textContent(), /max_local_disk_size: 100/);
    await page.click("#import-use");
    assert.match(await digestOf(page), /^[0-9a-f]{32}$/);
    assert.match(await read(page), /\[g3\]\ngib = 100/);
    assert.deepEqual(faults, []);
    await close();
  },

  async "faults of a pasted command are shown at their place, with a mend"(world) {
    const { page, faults, close } = await open(world);
    await page.click("#import");
    await page.locator("#import-text").fill("vllm serve m \\\n  --block-size none");
    const fault = page.locator(".import__faults li");
    await fault.waitFor();
    assert.match(await fault.textContent(), /line 2, column 16: .*found "none"; expected a whole number.* → write for example/);
    assert.equal(await page.locator("#import-use").count(), 0);
    await goesOn(page);
    assert.deepEqual(faults, []);
    await close();
  },

  async "a trace is dropped and replayed, and a link to it names the file"(world) {
    const { page, faults, close } = await open(world);
    await drop(page, "small.jsonl.gz", gzipSync(trace(40)));
    await until(page, () => /a Mooncake trace of 40 requests/.test(document.querySelector("#trace-state")?.textContent));
    await page.click("#trace-replay");
    const first = await digestOf(page);
    const text = await read(page);
    assert.match(text, /file = "small\.jsonl\.gz" # 40 requests/);
    assert.equal(await page.locator("#wanted-trace").count(), 0);
    await until(page, () => /^#v\d+\./.test(location.hash));

    const hash = `#${linkOf(text)}`;
    const two = await visit(world, hash);
    await two.page.locator("#wanted-trace").waitFor();
    assert.match(await two.page.locator("#wanted-trace").textContent(), /small\.jsonl\.gz \(40 requests\)/);
    await drop(two.page, "small.jsonl.gz", gzipSync(trace(40)));
    assert.equal(await digestOf(two.page), first, "the same run, once the file is there");
    assert.equal(await two.page.locator("#wanted-trace").count(), 0);

    // On the present scenario: its engine stays, and what goes is said.
    await page.selectOption("#case", "shared-prefix");
    await digestOf(page);
    await page.click("#import");
    await page.check("#replay-here");
    assert.match(await page.locator(".import__replaced").textContent(), /it replaces/);
    await page.click("#trace-replay");
    await until(page, () => /kind = "trace"/.test(document.querySelector("#scenario-text").value));
    assert.notEqual(await digestOf(page), first);
    assert.deepEqual([...faults, ...two.faults], []);
    await two.close();
    await close();
  },

  async "a trace on its way is cancelled"(world) {
    const { page, faults, close } = await open(world);
    // Slices stop at the first one, so that there is time to cancel.
    await page.evaluate(() => {
      const whole = Blob.prototype.arrayBuffer;
      Blob.prototype.arrayBuffer = function () {
        return this.size > 1e6 ? new Promise(() => {}) : whole.call(this);
      };
    });
    await drop(page, "large.jsonl", trace(40_000));
    await page.locator("#trace-cancel").waitFor();
    assert.match(await page.locator("#trace-state").textContent(), /^Reading large\.jsonl/);
    await page.click("#trace-cancel");
    await until(page, () => /cancelled/.test(document.querySelector("#trace-state")?.textContent));
    await goesOn(page);
    assert.deepEqual(faults, []);
    await close();
  },

  async "hostile files end in a message, and the page works on"(world) {
    const { page, faults, close } = await open(world);
    const good = trace(20);
    const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0xff]), Buffer.alloc(400, 0xc3)]);
    const cases = [
      ["empty.jsonl", "", /It is empty/],
      ["picture.png", png, /It is no text/],
      ["notes.txt", "what is this?", /Not recognized/],
      ["cut.jsonl", good.slice(0, good.length - 30), /cannot be replayed/],
      ["cut.jsonl.gz", gzipSync(good).subarray(0, 60), /cannot be replayed/],
      ["mutated.jsonl", good.replace('"input_length":900', '"input_length":-9'), /cannot be replayed/],
      ["binary.jsonl", png, /cannot be replayed/],
      ["engine-args.json", '{"num_gpu_blocks": -1}', /It has 1 problem/],
      ["lmcache.yaml", "chunk_size: &a [1\nlocal_cpu: *a", /It has 1 problem/],
    ];
    for (const [name, content, words] of cases) {
      await drop(page, name, content);
      await until(
        page,
        ([name, words]) => {
          const told = ["#import-sentence", "#trace-state"].map((one) => document.querySelector(one)?.textContent ?? "");
          return told.some((one) => one.includes(name) && new RegExp(words).test(one));
        },
        [name, words.source],
      );
    }
    await goesOn(page);
    assert.deepEqual(faults, []);
    await close();
  },

  async "a small file that unpacks to gigabytes is refused, and takes no memory"(world) {
    const { page, faults, close } = await open(world);
    const part = gzipSync(Buffer.from((trace(1) + "\n".repeat(64)).padEnd(64 << 20, " \n")), { level: 9 });
    const bomb = Buffer.concat(Array.from({ length: 48 }, () => part));
    assert.ok(bomb.length < 8e6, `${bomb.length} bytes hold three gigabytes`);
    await drop(page, "bomb.jsonl.gz", bomb);
    await until(page, () => /bomb\.jsonl\.gz cannot be replayed/.test(document.querySelector("#trace-state")?.textContent));
    assert.match(await page.locator(".import__faults").textContent(), /holds more than 268435456 bytes/);
    await goesOn(page);
    assert.deepEqual(faults, []);
    await close();
  },

  async "conversation_trace runs in the page, with the native digest"(world) {
    const bytes = await readFile(TRACE).catch(() => null);
    if (!bytes) return console.log("     no conversation_trace.jsonl beside the project: skipped");
    const native = process.env.TIERSCOPE_TRACE_DIGEST;
    const { page, faults, close } = await open(world);
    await drop(page, "conversation_trace.jsonl", bytes);
    await until(page, () => /12,031 requests/.test(document.querySelector("#trace-state")?.textContent));
    await page.click("#trace-replay");
    const digest = await digestOf(page);
    if (native) assert.equal(digest, native);
    const title = await page.locator(".panel--board").textContent();
    console.log(`     ${digest}; ${/[\d.,]+ m?s (?:of )?wall[^.]*/.exec(title)?.[0] ?? title.slice(0, 160)}`);
    assert.deepEqual(faults, []);
    await close();
  },
};

export { sentence };
