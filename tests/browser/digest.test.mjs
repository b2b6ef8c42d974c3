// One scenario, one digest: without a click, for every gallery case, natively, and through a link.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import { digestOf, read, until, visit, write } from "./page.mjs";

/** Digests that the native command gave: { "first-steps.toml": "32 hex digits", … }. */
async function nativeDigests() {
  const file = process.env.TIERSCOPE_DIGESTS;
  return file ? JSON.parse(await readFile(file, "utf8")) : null;
}

export const tests = {
  async "a first visit runs the first case without a click"(world) {
    const { page, faults, close } = await visit(world);
    assert.match(await digestOf(page), /^[0-9a-f]{32}$/);
    assert.equal(await page.locator("#outcome").textContent(), "finished");
    assert.ok(await page.locator("#results tbody tr").count());
    assert.ok(await page.locator("#tracks-canvas").count());
    await page.click("#tab-results");
    await page.locator("#latency-chart svg").waitFor();
    await until(page, () => location.hash.startsWith("#v2."));
    assert.deepEqual(faults, []);
    await close();
  },

  async "every gallery case gives the native digest"(world) {
    const native = await nativeDigests();
    if (!native) console.log("     TIERSCOPE_DIGESTS is not set: only compared with a second run");
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    const names = await page.locator("#case option[value]:not([disabled])").evaluateAll((all) => all.map((one) => one.value));
    assert.ok(names.length >= 5, `at least five cases, not ${names.length}`);
    for (const name of names) {
      await page.selectOption("#case", name);
      await page.locator("#run").waitFor();
      const first = await digestOf(page);
      await page.click("#run");
      const second = await digestOf(page);
      assert.equal(second, first, `${name}: twice in a row`);
      if (native) assert.equal(first, native[`${name}.toml`] ?? native[name], `${name}: native and wasm`);
      const outcome = ["hold-and-wait", "two-loads"].includes(name) ? "dead end" : "finished";
      assert.equal(await page.locator("#outcome").textContent(), outcome, name);
    }
    assert.deepEqual(faults, []);
    await close();
  },

  async "an edit changes the address, and a fresh tab gives the same digest"(world) {
    const one = await visit(world);
    await digestOf(one.page);
    const text = (await read(one.page)).replace("g1_blocks = 32", "g1_blocks = 17").replace("seed = 1", "seed = 99");
    await write(one.page, text);
    await one.page.click("#run");
    const digest = await digestOf(one.page);
    await until(one.page, (begins) => location.hash.includes(`&d=${begins}`), digest.slice(0, 8));
    const hash = await one.page.evaluate(() => location.hash);

    const two = await visit(world, hash);
    assert.equal(await digestOf(two.page), digest);
    assert.equal(await read(two.page), text);
    assert.deepEqual([...one.faults, ...two.faults], []);
    await one.close();
    await two.close();
  },

  async "a new seed is drawn, written into the text, and run"(world) {
    const { page, faults, close } = await visit(world);
    const before = await digestOf(page);
    await page.selectOption("#case", "shared-prefix");
    await digestOf(page);
    await page.click("#new-seed");
    const after = await digestOf(page);
    const seed = await page.inputValue("#seed");
    assert.notEqual(after, before);
    assert.ok((await read(page)).includes(`seed = ${seed}`));
    assert.deepEqual(faults, []);
    await close();
  },
  async "a seed typed while the run plays is taken, and a word is refused"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    const type = async (text) => {
      await page.click("#seed");
      await page.keyboard.press("Control+A");
      await page.keyboard.type(text, { delay: 60 });
      await page.keyboard.press("Enter");
    };
    await type("123");
    await until(page, () => document.querySelector("#scenario-text").value.includes("seed = 123"));
    await digestOf(page);
    await type("x");
    assert.match(await page.locator("#notice").textContent(), /whole number/);
    assert.equal(await page.inputValue("#seed"), "123");
    assert.deepEqual(faults, []);
    await close();
  },
};
