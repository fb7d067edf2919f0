// Lets the conformance suite run on Node 20: it imports one function that came with Node 22, and never calls it for a client.
import { register } from "node:module";
import * as fs from "node:fs";

const hooks = `
export async function resolve(name, context, next) {
  if (name !== "fs" || !context.parentURL?.includes("/conformance/")) return next(name, context);
  return { url: "data:text/javascript,export * from 'node:fs'; export const globSync = () => [];", shortCircuit: true };
}`;
if (!("globSync" in fs)) register("data:text/javascript," + encodeURIComponent(hooks));
