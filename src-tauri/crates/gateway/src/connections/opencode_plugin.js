// Written by `countersign connect AGENT`. Take it back with `countersign disconnect AGENT`.
// Countersign judges every tool before it is used here. Whatever fails on the way denies.
import { spawn } from "node:child_process"

const PROGRAM = "HOOK_PROGRAM"
const ARGUMENTS = "HOOK_ARGUMENTS"

/** Gives an event to Countersign; resolves to its answer. */
function ask(event) {
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`Denied: Countersign gave no answer (${why}).`))
    const hook = spawn(PROGRAM, ARGUMENTS, { stdio: ["pipe", "pipe", "pipe"] })
    const output = []
    const errors = []
    hook.stdout.on("data", (piece) => output.push(piece))
    hook.stderr.on("data", (piece) => errors.push(piece))
    hook.on("error", (error) => fail(error.message))
    hook.on("close", (code) => {
      if (code !== 0) return fail(Buffer.concat(errors).toString().trim() || `it ended with ${code}`)
      try {
        const answer = JSON.parse(Buffer.concat(output).toString())
        if (answer !== null && typeof answer === "object") return resolve(answer)
        fail("it was no JSON object")
      } catch (error) {
        fail(error.message)
      }
    })
    // A hook that ends before it has read everything is told of by how it ends.
    hook.stdin.on("error", () => {})
    hook.stdin.end(JSON.stringify(event))
  })
}

export const Countersign = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = await ask({
      hook_event_name: "tool.execute.before",
      session_id: input.sessionID,
      cwd: directory,
      tool_name: input.tool,
      tool_input: output.args,
      tool_use_id: input.callID,
    })
    if (answer.decision !== "allow") {
      throw new Error(answer.reason ?? "Denied by Countersign.")
    }
    if (answer.tool_input !== undefined) {
      // The object itself is what the tool is called with.
      for (const name of Object.keys(output.args)) delete output.args[name]
      Object.assign(output.args, answer.tool_input)
    }
  },
  "tool.execute.after": async (input, output) => {
    await ask({
      hook_event_name: "tool.execute.after",
      session_id: input.sessionID,
      cwd: directory,
      tool_name: input.tool,
      tool_input: input.args,
      tool_use_id: input.callID,
      tool_response: { output: output.output, metadata: output.metadata },
    })
  },
})
