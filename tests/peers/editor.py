"""An editor made with the protocol's own library. Its arguments are the folder to work in and the command of an agent. It
writes one JSON object: what the agent did with each prompt, and what a second start of it told of the same session."""

import asyncio
import json
import sys

import acp
from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse


class Editor(acp.Client):
    """A client without files and terminals of its own."""

    def __init__(self):
        self.kind = None
        self.waiting = asyncio.Event()
        self.forget()

    def forget(self):
        self.asked, self.calls, self.text, self.prompts = [], {}, "", []

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.append([option.kind for option in options])
        if self.kind is None:
            self.waiting.set()
            await asyncio.sleep(0)
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        chosen = next(option.option_id for option in options if option.kind == self.kind)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def session_update(self, session_id, update, **_):
        match update.session_update:
            case "tool_call":
                self.calls[update.tool_call_id] = [update.kind, update.status]
            case "tool_call_update":
                call = self.calls[update.tool_call_id]
                call[0], call[1] = update.kind or call[0], update.status or call[1]
            case "agent_message_chunk":
                self.text += update.content.text
            case "user_message_chunk":
                self.prompts.append(update.content.text)

    def told(self):
        return {"asked": self.asked, "calls": list(self.calls.values()), "text": self.text}


async def ask(agent, editor, session, prompt, kind):
    editor.forget()
    editor.kind = kind
    answering = asyncio.create_task(agent.prompt(session_id=session, prompt=[acp.text_block(prompt)]))
    if kind is None:
        await editor.waiting.wait()
        await agent.cancel(session_id=session)
    answer = await answering
    return {"stop": answer.stop_reason, **editor.told()}


async def main(folder, command):
    editor, said = Editor(), {}
    async with acp.spawn_agent_process(editor, *command) as (agent, _):
        hello = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        said["agent"] = hello.agent_info.name
        session = (await agent.new_session(cwd=folder, mcp_servers=[])).session_id
        said["allowed"] = await ask(agent, editor, session, "Allow it.", "allow_once")
        said["rejected"] = await ask(agent, editor, session, "Reject it.", "reject_once")
        said["cancelled"] = await ask(agent, editor, session, "Cancel it.", None)
        await agent.set_session_mode(session_id=session, mode_id="plan")
        said["planned"] = await ask(agent, editor, session, "Plan it.", "allow_once")
    async with acp.spawn_agent_process(editor, *command) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        listed = (await agent.list_sessions()).sessions
        said["listed"] = [one.title for one in listed if one.session_id == session]
        editor.forget()
        await agent.load_session(cwd=folder, session_id=session, mcp_servers=[])
        said["loaded"] = {"prompts": editor.prompts, **editor.told()}
        try:
            await agent.load_session(cwd=folder, session_id="ses_missing", mcp_servers=[])
        except acp.RequestError as refusal:
            said["refused"] = f"{refusal}: {refusal.data}"
    print(json.dumps(said))


asyncio.run(main(sys.argv[1], sys.argv[2:]))
