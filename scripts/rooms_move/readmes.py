"""Writes overlay/src/<room>/README.md."""
from pathlib import Path
T = {}
T['base'] = ('What every other room stands on: results, text, files, processes, JSON, YAML and HTTP.',
 'know anything of prompts, models, runs or commands.',
 [('`result.h`', '`Result<T>` and `Error`, the one channel for failures'),
  ('`cancel.h`, `clock.h`, `random.h`', 'cancellation, time and randomness, passed in from outside'),
  ('`text/`', 'UTF-8, small text helpers, dates, redaction of secrets'),
  ('`json/`, `yaml/`', 'JSON values; YAML as a tree in which every node knows its place'),
  ('`files/`', 'files, locks, replacing a file whole, folder walks as git sees them'),
  ('`process/`', 'programs by argument list, with a deadline that ends everything they started'),
  ('`net/`', 'the HTTP client (one thread for all requests), downloads, the loopback listener')],
 'None: functions over values, and small owners of descriptors, threads and processes.',
 'Everything but `process/supervisor.h`, `process/child_plan.h` and `text/utf8_avx2.h`, which say so.')
T['tokens'] = ('How many tokens a text has, exactly where the vocabulary is there, else with a stated margin.',
 'load anything over the network, or know which model is meant.',
 [('`files/open.h`', 'a counter by the name of its encoding or from a vocabulary file'),
  ('`counter/counter.h`', 'the interface: count, count what is appended, the longest part that fits'),
  ('`files/gguf.h`, `files/tokenizer_json.h`', 'vocabularies of model files'),
  ('`files/count_cache.h`', 'counts of texts seen before')],
 'A text is cut into pieces (`split`), each piece is encoded by a vocabulary (`encode`), counts add up.',
 '`counter/counter.h`, `files/open.h`, `files/count_cache.h`, `files/gguf.h`.')
T['inspect'] = ('What a file is before a model reads it: format, encoding, size, fields, records; and the reader of its records.',
 'change, move or interpret what a file says, or read a whole file into memory.',
 [('`describe/describe.h`', '`Describe`: one look at a source of bytes'),
  ('`description/description.h`', 'what came of it, as plain data'),
  ('`description/hint.h`', 'the same as text for a model, as data for code and as JSON'),
  ('`records/record_reader.h`', 'record i of any record format, as typed JSON')],
 'Bytes (`text/byte_source.h`) are counted by several threads; the head decides the format; scanners of `json` and\n'
 '`formats` ride on the same pass; `describe` puts it together.',
 'The entry points, `text/encoding.h`, `text/text_stream.h`, `records/record_index.h`, `text/record_lines.h`.')
T['assembly'] = ('The one way to a prompt: sections go in, messages that fit the budget and a report of every cut come out.',
 'use clock, network, randomness or a model: the same input gives the same bytes.',
 [('`assemble.h`', '`Assemble(layout, sections, budget, …)`'),
  ('`layout/lookup.h`, `layout/layout.h`', 'layouts and templates, the user\'s before the built-in ones'),
  ('`layout/messages.h`', 'the form of a prompt that every model client sends'),
  ('`fit/compaction.h`', 'a shorter view of a long history'),
  ('`layout/yaml_fields.h`', 'typed reading of YAML maps by a table of keys')],
 '`gather` takes what the layout names, `share` and `fit` give each section its tokens, `arrange` makes messages,\n'
 '`cache_plan` marks the stable prefix, `report` says what happened.',
 'The entry points, `sources/fence.h`, `layout/check.h`, `fit/prompt_log.h`.')
T['store'] = ('What is kept: bodies by their hash, and the journal of every run.',
 'know what an event means, or keep a secret: event data is redacted before it is written.',
 [('`journal.h`', 'append-only events of a run: its trace, checkpoint, resume and fork'),
  ('`content.h`, `content_writer.h`', 'bodies by content hash'),
  ('`memo.h`', 'results by key, so that nothing is computed twice'),
  ('`prune.h`', 'room for new runs: the oldest go first, whole'),
  ('`sqlite.h`', 'the only place that knows SQLite\'s C interface')],
 'A run appends events; long texts go into the content store and the event names their hash.',
 'All but `journal_schema.h`, `live_runs.h` and `erase_texts.h`.')
T['config'] = ('Configuration: which files and variables count, what they say together, and whether a project may be trusted.',
 'act on a setting, or use a power that a project\'s file claims before a person has allowed it.',
 [('`load.h`', '`LoadConfig`: finds, reads, checks and merges all layers'),
  ('`config.h`', 'the result, typed'),
  ('`keys.h`', 'the one table of keys: type, default, power, meaning, reader'),
  ('`trust.h`', 'which project files a person has looked at'),
  ('`edit.h`', 'one key changed, every other byte left as it is')],
 'Layers are read as trees whose values know their file and line, merged low to high, then read by the table of keys.',
 'The entry points. `read_value.h` is for readers of further keys.')
T['model'] = ('One interface for every model: providers, the local server, programs, scripts; with the gate, prices and limits.',
 'make a prompt, judge an answer, or decide by a model\'s name what its data can tell.',
 [('`client/client.h`', 'the interface: a request goes in, events and a reply come out'),
  ('`client/gate.h`, `client/ledger.h`', 'the one place every request passes: order, retries, budget, sums'),
  ('`catalog/catalog.h`', 'which models there are, and which one is meant'),
  ('`providers/connect.h`', 'from a chosen model to a client that answers'),
  ('`schema/json_schema.h`', 'whether a value has the shape that was asked for'),
  ('`scripted/`', 'models that answer by rules or from a recording, and servers that stand in for providers')],
 'Catalogue entry, client, gate; the gate sends through a dialect and the HTTP loop of `base/net`. A new provider is a\n'
 'file in `dialects`, a row in its table and an entry in `data/models.yaml`.',
 'The entry points, `dialects/dialect.h`, `dialects/role_rules.h`, `local/local_pull.h`.')
T['sandbox'] = ('Where the code of a model runs: worker sessions, jailed programs, and the rules which commands are allowed.',
 'trust a worker, or run anything with fewer walls than the caller asked for without saying so.',
 [('`session/session.h`', '`Pool` and `Session`: one isolated interpreter, run block by block'),
  ('`jail/jail.h`', 'an external program behind the same walls'),
  ('`commands/policy.h`', 'which commands a model may run'),
  ('`walls/isolation.h`', 'the walls, closed step by step, and the report of which hold'),
  ('`probes/escape.h`', 'attempts to get out, which must fail')],
 'The host starts a zygote, which forks a worker for each session; frames of `session/frame.h` go both ways over a\n'
 'private descriptor; code asks the host only through the bridge.',
 'The entry points, `commands/command_lexer.h`, `walls/landlock.h`. The worker shares `session` and `walls`.')
T['memory'] = ('What is remembered between turns and runs: a store of branches, searched, written in blocks, rendered under a budget.',
 'call a model: what it needs of one is passed in as a function.',
 [('`store/store.h`', 'one file, shared by threads and processes'),
  ('`search/search.h`, `search/view.h`', 'one branch as of one write, and ranked search over it'),
  ('`blocks/apply.h`, `blocks/reply.h`', 'the block of a model\'s reply, checked and run in one transaction'),
  ('`consolidate/consolidate.h`', 'room made when a branch gets full'),
  ('`render/render.h`, `render/injection.h`', 'memory as a prompt shows it'),
  ('`transfer/transfer.h`', 'memory as files')],
 'Reads see a view; writes go through one session on one connection, are logged, and become visible together.',
 'The entry points, `blocks/rounds.h`, `consolidate/pressure.h`, `transfer/call_log.h`.')
T['sources'] = ('Where text for prompts comes from: context commands, the repository and its header, packed folders.',
 'send anything to a model, or run a command that was not declared and trusted.',
 [('`commands/context_run.h`', 'runs context commands side by side'),
  ('`template/template_render.h`', 'the templates in those commands'),
  ('`header/header_source.h`, `header/agent_header.h`', 'the state of a repository in a few lines'),
  ('`header/task.h`', 'the tasks that people keep in files'),
  ('`pack/pack.h`', 'a folder as text within a budget')],
 'Files and git are read once (`repository`), judged and rendered (`header`, `pack`); commands are rendered, run, cleaned\n'
 'and capped (`commands`).',
 'The entry points, `repository/repo_facts.h`, `repository/git_call.h`, `header/note.h`, `header/agents_config.h`.')
T['agents'] = ('Engineer and reviewer over one repository: tasks, engines in worktrees, the policy of changes, merging.',
 'let an engine touch anything but its worktree, or merge what the policy refuses.',
 [('`run/run.h`', 'one run over the tasks of a repository'),
  ('`engine/engine.h`', 'what does the work: the built-in loop or a program'),
  ('`policy/policy_check.h`', 'whether a patch keeps the rules'),
  ('`merge/merge.h`, `merge/recover.h`', 'onto the target branch, and after a crash'),
  ('`git/`', 'git calls, worktrees, patches, checked paths')],
 'A task is claimed, an engine works in a worktree, the patch is taken and checked, a reviewer judges it, the merge is\n'
 'published in one transaction of refs; every step is in the journal and in the state folder.',
 '`run/run.h`, `task/run_options.h`, `task/run_records.h`, `task/log_line.h`.')
T['chat'] = ('Stored conversations with frozen context: one turn from the prompt to the saved reply.',
 'run a context command twice for one conversation unless it is asked to, or lose a turn that was begun.',
 [('`turn/chat.h`', '`Chat::Send`: one turn'),
  ('`store/store.h`', 'conversations as files, with locks'),
  ('`context/plan.h`', 'what is sent, decided without side effects'),
  ('`context/compact.h`', 'how old turns are made shorter'),
  ('`turn/chat_model.h`', 'the model as a conversation uses it')],
 'Load, run the commands that are needed, plan, compact, call, save. Decisions are in `context`, effects in `turn`.',
 'The entry points, `store/index.h`, `store/migrate.h`, `turn/forget.h`, `turn/command_tool.h`.')
T['ask'] = ('One question over a context of any size: the model writes code, the sandbox runs it, until an answer is handed in.',
 'accept an answer for its words alone: what counts is what was read and what code has shown.',
 [('`engine.h`', '`Engine::Run`: a request goes in, an `Outcome` comes out'),
  ('`documents/context_set.h`', 'the context as named documents, mapped and never copied into a prompt'),
  ('`loop/call_loop.h`', 'the turns of one call'),
  ('`policy/gates.h`', 'what is checked before an answer ends a run'),
  ('`run/run_state.h`', 'what all parts of one run share'),
  ('`subcalls/`', 'the requests that code makes, and what it works with')],
 '`loop` asks the model, `reply` finds the code, `subcalls/workbench.h` runs it, `loop/feedback.h` says what came of it,\n'
 '`policy` judges the answer.',
 '`engine.h`, `documents/`; `reply/fences.h` and `reply/code_repair.h` for other readers of replies.')
T['research'] = ('A staged run of research: nodes are planned, built, run, measured; the best go on; a report and a paper are written.',
 'run code outside its backend, or lose a finished node to a crash or a limit.',
 [('`run.h`', 'a run: an idea goes in, programs, figures, a report and a paper come out'),
  ('`call/caller.h`, `call/call_sites.h`', 'the one way a run asks a model, and the table of its questions'),
  ('`exec/exec_backend.h`', 'where commands run: local sandbox, container, cluster'),
  ('`node/phases.h`', 'the phases of one node'),
  ('`search/stage_loop.h`', 'the stages over many nodes'),
  ('`paper/`', 'figures, citations, text, review')],
 '`run` uses `search`, which uses `node`, which uses `call`; never back. The journal (`tree/run_log.h`) is what a resume\n'
 'reads.',
 '`run.h`, `setup/config.h`, `resources/resources.h`, `run/` for status and reports, `paper/literature.h`.')
T['app'] = ('From configuration to wired parts, for whoever embeds the engine; what the command needs stands in cli/wiring until it moves here.',
 'print, ask a person, or know a flag.',
 [('`section_sources.h`', 'sections of a layout, filled from files and makers'),
  ('`memory_config.h`', 'the configuration of memory, read')],
 'Values of `config` go in, parts of the rooms below come out.',
 'Both headers.')
T['cli'] = ('The command: flags, help, completion, the terminal, and one file for each command.',
 'decide anything about an answer, a limit or a format: it asks the rooms below and shows what they say.',
 [('`command_line.h`', '`RunCommandLine`'),
  ('`tree/command_tree.h`', 'the table of commands; help, manual page and completion are made from it'),
  ('`wiring/`', 'flags that several commands share, and how parts are put together'),
  ('`terminal/`', 'what a person sees and types'),
  ('`texts/` `conversations/` `chat/` `memory/` `runs/` `system/`', 'the commands, by what they are about')],
 'Arguments are parsed, configuration is loaded, the command runs; the answer goes to stdout, all else to stderr.',
 '`command_line.h` alone.')
for room, (what, never, entries, flow, outside) in T.items():
    lines = [f'# {room}', '', f'**For:** {what}', f'**May not:** {never}', '', '| entry point | for |', '| --- | --- |']
    lines += [f'| {a} | {b} |' for a, b in entries]
    lines += ['', f'**Data flow.** {flow}', '', f'**From outside.** {outside}']
    p = Path(__file__).parent / 'overlay' / 'src' / room / 'README.md'
    p.parent.mkdir(parents=True, exist_ok=True)
    text = '\n'.join(lines) + '\n'
    assert text.count('\n') <= 25, (room, text.count('\n'))
    p.write_text(text)
p = Path(__file__).parent / 'overlay' / 'testing' / 'README.md'
p.parent.mkdir(parents=True, exist_ok=True)
p.write_text('''# testing

**For:** Rigs, fakes and matchers that tests of several files or rooms share.
**May not:** be included by production code, or be linked into the product's library.

| entry point | for |
| --- | --- |
| `result_matchers.h` | `Succeeds` and `FailsWith`, for `Result<T>` |
| `*_for_test.h`, `*_rig_for_test.h` | a room's parts wired with fakes; each in the namespace of its room |

**Data flow.** Headers only: a test includes the rig of its own room; a rig may include any part of that room.

**From outside.** Tests, fuzz targets and benchmarks.
''')
