// Runs the scene in node, prints its trace, and checks what holds without a clock.
import { readFileSync } from "node:fs";

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const { memory, make_trace, trace_at, works_without_clock } = instance.exports;
const length = make_trace();
process.stdout.write(new Uint8Array(memory.buffer, trace_at(), length));
if (!works_without_clock()) {
    console.error("without a clock something is not as it should be");
    process.exitCode = 1;
}
