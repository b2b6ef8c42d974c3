// The text: its faults are shown at their line with a mend; broken links end in words, never in a blank page.
import assert from "node:assert/strict";

import { digestOf, linkOf, read, until, visit, write } from "./page.mjs";

export const tests = {
  async "a fault is shown at its line with its mend, and run is disabled"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    const text = await read(page);
    await write(page, text.replace("g1_blocks", "g1_bloks"));
    const line = text.split("\n").findIndex((one) => one.includes("g1_blocks")) + 1;
    const problems = page.locator("#problems .fault");
    await problems.first().waitFor();
    assert.equal((await page.locator(".fault__place").first().textContent()).trim(), `line ${line}`);
    assert.match(await page.locator(".fault__mend").first().textContent(), /g1_blocks/);
    assert.equal(await page.locator(".editor__number--marked").count(), await problems.count());
    assert.ok(await page.locator("#run").isDisabled());
    await page.locator(".fault__place").first().click();
    const at = await page.locator("#scenario-text").evaluate((area) => area.value.slice(0, area.selectionStart).split("\n").length);
    assert.equal(at, line);
    await write(page, text);
    await until(page, () => !document.querySelector("#run").disabled);
    assert.deepEqual(faults, []);
    await close();
  },

  async "Ctrl+Enter runs the text"(world) {
    const { page, faults, close } = await visit(world);
    const before = await digestOf(page);
    await write(page, (await read(page)).replace("output_tokens = 56", "output_tokens = 57"));
    await page.locator("#scenario-text").press("Control+Enter");
    assert.notEqual(await digestOf(page), before);
    assert.deepEqual(faults, []);
    await close();
  },

  async "broken links end in a message and a page that works"(world) {
    const hashes = ["#v1.", "#v1.%%%", "#v1.AAAA", "#v2.", "#v2.%%%", "#v2.abcd", "#v9.abcd", "#nonsense", `#v1.${"A".repeat(20_000)}`, "#v1.S0lURQ\u0000", "#%E0%A4%A"];
    for (const hash of hashes) {
      const { page, faults, close } = await visit(world, hash);
      const notice = page.locator("#notice");
      await notice.waitFor();
      assert.match(await notice.textContent(), /cannot be opened/, hash);
      await digestOf(page);
      await page.locator("#notice button").click();
      await notice.waitFor({ state: "detached" });
      await until(page, () => location.hash.startsWith("#v2."));
      assert.deepEqual(faults, [], hash);
      await close();
    }
  },

  async "a link to a text with faults opens the text and names them"(world) {
    const one = await visit(world);
    await digestOf(one.page);
    // A link can only be made of a valid text; this one is valid TOML with a wrong version.
    const hash = `#${linkOf("tierscope = 99\n")}`;
    const two = await visit(world, hash);
    await two.page.locator("#problems .fault").first().waitFor();
    assert.ok(await two.page.locator("#run").isDisabled());
    assert.deepEqual([...one.faults, ...two.faults], []);
    await one.close();
    await two.close();
  },

  async "an address that changes under the page opens the other scenario"(world) {
    const { page, faults, close } = await visit(world);
    const first = await digestOf(page);
    await until(page, () => location.hash.startsWith("#v2."));
    const home = await page.evaluate(() => location.hash);
    await page.selectOption("#case", "preemption");
    await until(page, (was) => location.hash !== was, home);
    assert.notEqual(await digestOf(page), first);
    await page.evaluate((hash) => (location.hash = hash), home);
    await until(page, () => document.querySelector("#case").value === "first-steps");
    assert.equal(await digestOf(page), first);
    assert.deepEqual(faults, []);
    await close();
  },
};
