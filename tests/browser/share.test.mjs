// What is shared: links with all that is seen, links of other versions and of heavy runs, the menu, files, Perfetto.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";

import { ROOT, digestOf, read, until, visit, write } from "./page.mjs";

const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };
const hashOf = (page) => page.evaluate(() => location.hash);
const pasted = (page) => page.evaluate(() => navigator.clipboard.readText());

/** The links that are out in the world, by version and name. */
async function golden() {
  const text = await readFile(path.join(ROOT, "crates/scenario/tests/links/golden.txt"), "utf8");
  return text.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split(" "));
}

async function choose(page, id) {
  await page.click("#share");
  await page.click(`#${id}`);
}

/** What a download holds. */
async function saved(page, id) {
  const waiting = page.waitForEvent("download");
  await choose(page, id);
  const download = await waiting;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

const HEAVY = `tierscope = 1
title = "A long day"

[timing]
model = "fixed"

[workload]
kind = "synthetic"
requests = 1000000
arrival = "poisson"
rate_per_s = 3.4
prompt_tokens = 1000
output_tokens = 100
`;

export const tests = {
  async "a copied link opens in a fresh profile with the same digest, time, sheet and worker"(world) {
    const one = await visit(world, "", CLIPBOARD);
    await digestOf(one.page);
    await write(one.page, await readFile(path.join(ROOT, "tests/browser/scenarios/routed.toml"), "utf8"));
    await one.page.click("#run");
    const digest = await digestOf(one.page);
    await one.page.click("#tab-results");
    await one.page.locator("#time").fill("500");
    await one.page.keyboard.press("Escape");
    await one.page.locator("#tab-results").press("n");
    await until(one.page, () => document.querySelector("#live").textContent.includes("worker 1:"));
    const live = await one.page.locator("#live").textContent();
    await choose(one.page, "copy-link");
    const link = await pasted(one.page);
    assert.match(link, /#v2\.[\w-]+&t=\d+&w=1&p=results&v=[\d.]+&d=[0-9a-f]{8}$/);
    assert.equal(link.split("#")[1], (await hashOf(one.page)).slice(1));

    const two = await visit(world, `#${link.split("#")[1]}`);
    assert.equal(await digestOf(two.page), digest);
    await until(two.page, (said) => document.querySelector("#live").textContent === said, live);
    assert.equal(await two.page.locator("#tab-results").getAttribute("aria-selected"), "true");
    assert.equal(await two.page.locator("#play").getAttribute("aria-label"), "Play");
    assert.deepEqual([...one.faults, ...two.faults], []);
    await one.close();
    await two.close();
  },

  async "every gallery case has an address of at most 200 characters, that time and digest included"(world) {
    const { page, faults, close } = await visit(world, "", { reducedMotion: "reduce" });
    await digestOf(page);
    const names = await page.locator("#case option[value]:not([disabled])").evaluateAll((all) => all.map((one) => one.value));
    let longest = 0;
    for (const name of names) {
      await page.selectOption("#case", name);
      const digest = await digestOf(page);
      await until(page, (begins) => location.hash.includes(`&d=${begins}`) && location.hash.includes("&t="), digest.slice(0, 8));
      const hash = await hashOf(page);
      longest = Math.max(longest, hash.length);
      assert.ok(hash.length <= 200, `${name}: ${hash.length} characters`);
    }
    console.log(`     longest: ${longest} characters`);
    assert.deepEqual(faults, []);
    await close();
  },

  async "links of every version open, and the address becomes one of the newest"(world) {
    for (const [name, link] of await golden()) {
      const { page, faults, close } = await visit(world, `#${link}`);
      await digestOf(page);
      assert.equal(await read(page), await readFile(path.join(ROOT, "crates/scenario/tests/links", name), "utf8"), link);
      await until(page, () => location.hash.startsWith("#v2."));
      assert.equal(await page.locator("#notice").count(), 0);
      assert.deepEqual(faults, []);
      await close();
    }
  },

  async "a link of another version says whether the run is the same"(world) {
    const one = await visit(world);
    const digest = await digestOf(one.page);
    await until(one.page, () => location.hash.includes("&d="));
    const plain = (await hashOf(one.page)).split("&")[0];
    await one.close();
    for (const [view, words] of [
      [`&v=0.0.1&d=${digest.slice(0, 8)}`, /0\.0\.1.*same digest/],
      ["&v=0.0.1&d=deadbeef", /0\.0\.1.*differs.*deadbeef/],
      ["&d=deadbeef", /not the one that this link was made of/],
    ]) {
      const { page, faults, close } = await visit(world, plain + view);
      await digestOf(page);
      await page.locator("#notice").waitFor();
      assert.match(await page.locator("#notice").textContent(), words);
      assert.deepEqual(faults, []);
      await close();
    }
  },

  async "hostile words behind a link change nothing"(world) {
    const one = await visit(world);
    const digest = await digestOf(one.page);
    await until(one.page, () => location.hash.includes("&d="));
    const plain = (await hashOf(one.page)).split("&")[0];
    await one.close();
    for (const words of ["&t=-1&w=99999999999&s=<img>&p=%00&f=%zz", "&t=9007199254740991&w=7&s=request.4294967295", `&f=${"a=1;".repeat(20_000)}`]) {
      const { page, faults, close } = await visit(world, plain + words);
      assert.equal(await digestOf(page), digest);
      await until(page, () => location.hash.includes("&d="));
      assert.ok((await hashOf(page)).length < 400, words.slice(0, 40));
      assert.deepEqual(faults, [], words.slice(0, 40));
      await close();
    }
  },

  async "a heavy link waits for a word, and can be cancelled"(world) {
    const one = await visit(world);
    await digestOf(one.page);
    await until(one.page, () => location.hash.includes("&d="));
    await write(one.page, HEAVY);
    await until(one.page, () => !location.hash.includes("&d="));
    const hash = await hashOf(one.page);
    await one.close();
    const { page, faults, close } = await visit(world, hash.split("&")[0]);
    await page.locator("#ready").waitFor();
    assert.match(await page.locator("#ready").textContent(), /1.000.000 requests with 1.000.000.000 prompt tokens/);
    assert.equal(await page.locator("#cancel").count(), 0);
    assert.equal(await page.locator("#digest").count(), 0);
    await page.click("#ready-run");
    await page.locator("#cancel").click();
    await until(page, () => document.querySelector("#outcome")?.textContent === "cancelled");
    assert.equal(await page.locator("#ready").count(), 0);
    assert.deepEqual(faults, []);
    await close();
  },

  async "the menu is worked by keys alone"(world) {
    const { page, faults, close } = await visit(world, "", CLIPBOARD);
    await digestOf(page);
    const focused = () => page.evaluate(() => document.activeElement.id);
    await page.focus("#share");
    await page.keyboard.press("ArrowDown");
    await page.locator("#share-menu").waitFor();
    await until(page, () => document.activeElement.id === "copy-link");
    assert.equal(await page.locator("#share").getAttribute("aria-expanded"), "true");
    await page.keyboard.press("ArrowUp");
    assert.equal(await focused(), "open-perfetto");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    assert.equal(await focused(), "copy-command");
    await page.keyboard.press("Escape");
    await page.locator("#share-menu").waitFor({ state: "detached" });
    assert.equal(await focused(), "share");
    await page.keyboard.press("Enter");
    await until(page, () => document.activeElement.id === "copy-link");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.locator("#notice").waitFor();
    assert.match(await pasted(page), /^tierscope run '#v2\.[\w-]+'$/);
    await page.click("#share");
    await page.locator("#share-menu").waitFor();
    await page.click("h1");
    await page.locator("#share-menu").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "files are saved: scenario, report, requests, series, trace"(world) {
    const { page, faults, close } = await visit(world);
    const digest = await digestOf(page);
    const scenario = await saved(page, "save-scenario");
    assert.equal(scenario.name, "first-steps-four-requests-one-pool.toml");
    assert.equal(scenario.text, await read(page));
    const report = await saved(page, "save-report");
    assert.equal(JSON.parse(report.text).digest, digest);
    const requests = await saved(page, "save-requests");
    const rows = requests.text.trim().split("\n");
    assert.match(rows[0], /^request,arrival_ns,ttft_ns,itl_mean_ns,e2e_ns,/);
    assert.equal(rows.length, 1 + JSON.parse(report.text).requests.total);
    const series = await saved(page, "save-series");
    assert.match(series.text, /^at_ns,g1_active_blocks,/);
    assert.ok(series.text.split("\n").length > 10);
    const trace = await saved(page, "save-trace");
    assert.match(trace.name, /\.trace\.json$/);
    const events = JSON.parse(trace.text).traceEvents;
    const count = (kind) => events.filter((event) => event.ph === kind).length;
    assert.ok(count("B") > 5 && count("B") === count("E") && count("b") === count("e"));
    await page.locator("#export").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "Perfetto's page gets the trace by the click, and nothing else leaves"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    // Perfetto's page as far as it matters: it answers a ping and keeps what it is handed.
    await page.context().route("https://ui.perfetto.dev/**", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<script>addEventListener("message", (event) => {
          if (event.data === "PING") event.source.postMessage("PONG", event.origin);
          else document.title = JSON.stringify({ from: event.origin, title: event.data.perfetto.title,
            text: new TextDecoder().decode(event.data.perfetto.buffer) });
        })</script>`,
      }),
    );
    const opened = page.waitForEvent("popup");
    await choose(page, "open-perfetto");
    const perfetto = await opened;
    await until(perfetto, () => document.title.startsWith("{"));
    const got = JSON.parse(await perfetto.title());
    assert.equal(got.title, "First steps: four requests, one pool");
    assert.ok(JSON.parse(got.text).traceEvents.length > 20);
    const elsewhere = faults.filter((fault) => !fault.includes("https://ui.perfetto.dev/"));
    assert.deepEqual(elsewhere, []);
    await close();
  },

  async "an embedded page shows the board, the timeline, and the way to the whole"(world) {
    const one = await visit(world, "", CLIPBOARD);
    const digest = await digestOf(one.page);
    await one.page.locator("#time").fill("400");
    await choose(one.page, "copy-frame");
    const frame = await pasted(one.page);
    const source = /<iframe src="([^"]+)"/.exec(frame)[1].replaceAll("&amp;", "&");
    assert.ok(source.startsWith(`${world.url}?embed=1#v2.`), source);
    const live = await one.page.locator("#live").textContent();
    await one.close();

    const { page, faults, close } = await visit(world, source.slice(world.url.length), { viewport: { width: 960, height: 600 } });
    await until(page, (said) => document.querySelector("#live")?.textContent === said, live);
    for (const there of [".panel--board canvas", "#play", "#time"]) await page.locator(there).first().waitFor();
    for (const gone of ["#scenario-text", "#share", "#tab-results"]) assert.equal(await page.locator(gone).count(), 0, gone);
    assert.equal(await page.locator(".embed h1").textContent(), "First steps: four requests, one pool");
    const whole = page.waitForEvent("popup");
    await page.click("#open-whole");
    const opened = await whole;
    assert.equal(await digestOf(opened), digest);
    await until(opened, (said) => document.querySelector("#live").textContent === said, live);
    assert.deepEqual(faults, []);
    await close();
  },
};
