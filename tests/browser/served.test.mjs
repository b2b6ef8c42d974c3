// The page from inside the binary: `tierscope serve` gives the same page, and so the same digests.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import readline from "node:readline";

import { digestOf, visit } from "./page.mjs";

/** The command with the page in it, and the address that it says; null where it was built without. */
async function served() {
  const binary = process.env.TIERSCOPE_BINARY;
  if (!binary) return null;
  const command = spawn(binary, ["serve", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await new Promise((said, failed) => {
    readline.createInterface({ input: command.stdout }).once("line", (line) => said([line]));
    command.once("exit", (code) => failed(new Error(`tierscope serve ended with ${code}`)));
  });
  return { url: /http:\S+/.exec(line)[0], stop: () => command.kill() };
}

export const tests = {
  async "tierscope serve gives the same digests"(world) {
    const server = await served();
    if (!server) {
      console.log("     TIERSCOPE_BINARY is not set: nothing to compare");
      return;
    }
    try {
      const one = await visit(world);
      const two = await visit({ browser: world.browser, url: server.url });
      for (const name of ["first-steps", "twelve-blocks", "two-loads"]) {
        const digests = [];
        for (const { page } of [one, two]) {
          await page.selectOption("#case", name);
          digests.push(await digestOf(page));
        }
        assert.equal(digests[1], digests[0], name);
      }
      assert.deepEqual([...one.faults, ...two.faults], []);
      await one.close();
      await two.close();
    } finally {
      server.stop();
    }
  },
};
