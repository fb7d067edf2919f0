// A server with what the conformance suite calls, by the protocol's own SDK; it stands behind the gateway that is tested.
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const PROGRESS_PAUSE_MS = 400;

const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const text = (text) => ({ type: "text", text });
const embedded = (uri) => ({
  type: "resource",
  resource: { uri, mimeType: "text/plain", text: "An embedded resource." },
});

const capabilities = { logging: {}, resources: { subscribe: true } };
const server = new McpServer({ name: "everything", version: "1.0.0" }, { capabilities });

const tool = (name, answer) =>
  server.registerTool(name, { description: `Answers with what ${name} names.` }, () => ({ content: answer }));
tool("test_simple_text", [text("This is a simple text response for testing.")]);
tool("test_image_content", [image]);
tool("test_audio_content", [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }]);
tool("test_embedded_resource", [embedded("test://embedded-resource")]);
tool("test_multiple_content_types", [text("Several kinds:"), image, embedded("test://mixed-content-resource")]);

server.registerTool("test_error_handling", { description: "Fails." }, () => {
  throw new Error("This tool intentionally returns an error for testing");
});

server.registerTool("test_tool_with_progress", { description: "Tells of its progress." }, async (extra) => {
  const progressToken = extra._meta?.progressToken;
  if (progressToken !== undefined) {
    for (const progress of [0, 50, 100]) {
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress, total: 100, message: `${progress} of 100` },
      });
      // Progress that comes at once is told once.
      await new Promise((resolve) => setTimeout(resolve, PROGRESS_PAUSE_MS));
    }
  }
  return { content: [text("Done.")] };
});

for (const name of ["test_tool_with_logging", "test_logging_tool"]) {
  server.registerTool(name, { description: "Logs what it does." }, async () => {
    for (const data of ["It begins.", "It goes on.", "It ends."]) {
      await server.server.sendLoggingMessage({ level: "info", logger: "everything", data });
    }
    return { content: [text("Done.")] };
  });
}

const ask = async (extra, message, properties) => {
  const params = { mode: "form", message, requestedSchema: { type: "object", properties, required: [] } };
  const answer = await server.server.elicitInput(params, { relatedRequestId: extra.requestId });
  return {
    content: [text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`)],
  };
};

server.registerTool(
  "test_elicitation",
  { description: "Asks the person.", inputSchema: { message: z.string() } },
  ({ message }, extra) =>
    ask(extra, message, {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    }),
);
server.registerTool("test_elicitation_sep1034_defaults", { description: "Asks by a form with defaults." }, (extra) =>
  ask(extra, "Please review.", {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  }),
);

server.registerTool("test_elicitation_sep1330_enums", { description: "Asks by a form with choices." }, (extra) => {
  const values = ["option1", "option2", "option3"];
  const titled = values.map((value, index) => ({ const: value, title: `Option ${index + 1}` }));
  return ask(extra, "Please choose.", {
    untitledSingle: { type: "string", enum: values },
    titledSingle: { type: "string", oneOf: titled },
    legacyEnum: { type: "string", enum: values, enumNames: titled.map((option) => option.title) },
    untitledMulti: { type: "array", items: { type: "string", enum: values } },
    titledMulti: { type: "array", items: { anyOf: titled } },
  });
});

server.registerTool(
  "test_sampling",
  { description: "Asks the model.", inputSchema: { prompt: z.string() } },
  async ({ prompt }) => {
    const params = { messages: [{ role: "user", content: text(prompt) }], maxTokens: 100 };
    const answer = await server.server.createMessage(params);
    return { content: [text(`LLM response: ${answer.content.text}`)] };
  },
);

const agreement = { ok: { type: "boolean" } };
for (const name of [
  "test_input_required_result_elicitation",
  "test_input_required_result_request_state",
  "test_input_required_result_tampered_state",
  "test_streaming_elicitation",
]) {
  server.registerTool(name, { description: "Asks the person." }, (extra) => ask(extra, "Is it right?", agreement));
}
server.registerTool("test_input_required_result_multi_round", { description: "Asks twice." }, async (extra) => {
  await ask(extra, "What is your name?", { name: { type: "string" } });
  return ask(extra, "Which colour?", { color: { type: "string" } });
});
const answerOfModel = async () => {
  const params = { messages: [{ role: "user", content: text("What is the capital of France?") }], maxTokens: 100 };
  const answer = await server.server.createMessage(params);
  return { content: [text(answer.content.text)] };
};
for (const name of ["test_input_required_result_sampling", "test_input_required_result_capabilities"]) {
  server.registerTool(name, { description: "Asks the model." }, answerOfModel);
}

server.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
server.registerResource("static-text", "test://static-text", { mimeType: "text/plain" }, (uri) => ({
  contents: [{ uri: uri.href, mimeType: "text/plain", text: "This is the content of the static text resource." }],
}));
server.registerResource("static-binary", "test://static-binary", { mimeType: "image/png" }, (uri) => ({
  contents: [{ uri: uri.href, mimeType: "image/png", blob: PIXEL }],
}));
const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
server.registerResource("template", template, { mimeType: "application/json" }, (uri, { id }) => ({
  contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }],
}));

const said = (content) => ({ messages: [{ role: "user", content }] });
server.registerPrompt("test_simple_prompt", { description: "A simple prompt." }, () =>
  said(text("This is a simple prompt for testing.")),
);
server.registerPrompt(
  "test_prompt_with_arguments",
  {
    description: "A prompt with arguments.",
    argsSchema: { arg1: completable(z.string(), (begun) => [`${begun}1`]), arg2: z.string() },
  },
  ({ arg1, arg2 }) => said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
);
server.registerPrompt(
  "test_prompt_with_embedded_resource",
  { description: "A prompt with a resource.", argsSchema: { resourceUri: z.string() } },
  ({ resourceUri }) => said(embedded(resourceUri)),
);
server.registerPrompt("test_prompt_with_image", { description: "A prompt with an image." }, () => said(image));

await server.connect(new StdioServerTransport());
