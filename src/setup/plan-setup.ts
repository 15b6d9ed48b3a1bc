import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { codeOf } from '../core/errors.ts'
import { AGENTS, type Agent, SERVER_NAME, type ServerCommand, type UserFolders } from './agents.ts'
import { ConfigSyntaxError } from './config-syntax-error.ts'
import { readJsonEntry, removeJsonEntry, setJsonEntry } from './edit-json.ts'
import { readTomlTable, removeTomlTable, setTomlTable } from './edit-toml.ts'

/** What is to be set up, and for whom. */
export interface SetupRequest {
  readonly folders: UserFolders
  /** Writes the configuration of the project in this folder. @default that of the user */
  readonly project?: string | undefined
  readonly server: ServerCommand
  /** Ids of agents. @default those that are installed */
  readonly agents?: readonly string[] | undefined
  /** Text of the skill for agents that read skills. @default none is written */
  readonly skill?: string | undefined
}

/** A change of one file of another program: the configuration of an agent, our skill, or a unit of systemd. */
export interface ConfigChange {
  readonly program: Pick<Agent, 'id' | 'name'>
  readonly kind: 'server' | 'skill' | 'service' | 'timer'
  readonly file: string
  readonly status: 'add' | 'update' | 'remove' | 'unchanged' | 'left-alone'
  /** Why the file is left alone. */
  readonly problem?: string
  /** The text of the file; null if there is none. */
  readonly before: string | null
  /** The new text; null if the file is removed. */
  readonly after: string | null
}

/** Added to the name of a file for the copy of how it was before the first change. */
const BACKUP_SUFFIX = '.before-pharos'

/** The copy of a configuration file from before the first change. */
export function backupOf(file: string): string {
  return `${file}${BACKUP_SUFFIX}`
}

/** The agents that are installed on this machine. */
export function findAgents(folders: UserFolders): Agent[] {
  return AGENTS.filter(({ traces }) => traces(folders).some((path) => existsSync(path)))
}

/** Plans the changes that connect agents with Pharos. Fields of our entry that a user added stay. Writes nothing. */
export function planSetup(request: SetupRequest): ConfigChange[] {
  return planEach(request, {
    server: (agent, before) => {
      const present = readEntry(agent, before ?? '')
      const own = typeof present === 'object' ? present : {}
      const entry = { ...own, ...agent.writeEntry(request.server) }
      if (isDeepStrictEqual(present, entry)) return { status: 'unchanged', after: before }
      return { status: present === undefined ? 'add' : 'update', after: setEntry(agent, before ?? '', entry) }
    },
    skill: (skill, before) => {
      if (before === skill) return { status: 'unchanged', after: before }
      checkIsOurs(before, SKILL_MARK)
      return { status: before === null ? 'add' : 'update', after: skill }
    },
  })
}

/** Plans the removal of Pharos from the files of agents. A file that nobody else changed becomes what it was before. */
export function planRemoval(request: SetupRequest): ConfigChange[] {
  return planEach(request, {
    server: (agent, before, file) => {
      const present = before === null ? undefined : readEntry(agent, before)
      if (before === null || present === undefined) return { status: 'unchanged', after: before }
      const original = readText(backupOf(file))
      const isOnlyOurs = setEntry(agent, original ?? '', present) === before
      if (isOnlyOurs && readEntry(agent, original ?? '') === undefined) return { status: 'remove', after: original }
      return { status: 'remove', after: removeEntry(agent, before) }
    },
    skill: (_skill, before) => {
      if (before === null) return { status: 'unchanged', after: null }
      checkIsOurs(before, SKILL_MARK)
      return { status: 'remove', after: null }
    },
  })
}

/** The last line of our skill. A user who takes it out keeps the file. */
const SKILL_MARK = 'Written by `pharos setup`'

/** Throws if a file is not ours, because a user wrote it or took our mark out. */
export function checkIsOurs(text: string | null, mark: string): void {
  if (text === null || text.includes(mark)) return
  throw new ConfigSyntaxError(text, 0, `it lacks the mark "${mark}", so it is yours`)
}

/** The part of a configuration file that connects an agent, for users who write it themselves. */
export function writeSnippet(agent: Agent, server: ServerCommand): string {
  return setEntry(agent, '', agent.writeEntry(server))
}

type PlannedText = Pick<ConfigChange, 'status' | 'after'>

/** How the new texts of the two kinds of files are made. */
interface Planner {
  readonly server: (agent: Agent, before: string | null, file: string) => PlannedText
  readonly skill: (skill: string, before: string | null, file: string) => PlannedText
}

function planEach({ folders, project, agents: ids, skill }: SetupRequest, planner: Planner): ConfigChange[] {
  const agents = ids === undefined ? findAgents(folders) : AGENTS.filter(({ id }) => ids.includes(id))
  return agents.flatMap((agent) => {
    const file =
      project === undefined ? agent.globalFile(folders) : agent.projectFile && join(project, agent.projectFile)
    const skillFile = agent.skills && join(project ?? folders.home, agent.skills, SERVER_NAME, 'SKILL.md')
    return [
      ...(file === undefined ? [] : [planFile(agent, 'server', file, planner.server.bind(undefined, agent))]),
      ...(skill === undefined || skillFile === undefined
        ? []
        : [planFile(agent, 'skill', skillFile, planner.skill.bind(undefined, skill))]),
    ]
  })
}

/** Plans the change of one file. A file that cannot be read or parsed is left alone. */
export function planFile(
  program: ConfigChange['program'],
  kind: ConfigChange['kind'],
  file: string,
  plan: (before: string | null, file: string) => PlannedText,
): ConfigChange {
  let before: string | null = null
  try {
    before = readText(file)
    return { program, kind, file, before, ...plan(before, file) }
  } catch (error) {
    const problem = error instanceof ConfigSyntaxError ? error.message : describeReadError(error)
    return { program, kind, file, before, after: before, status: 'left-alone', problem }
  }
}

function describeReadError(error: unknown): string {
  const code = codeOf(error)
  if (code === '') throw error
  return code.startsWith('ERR_ENCODING') ? 'it is not UTF-8' : `it cannot be read (${code})`
}

/** The text of a file; null if there is none. */
function readText(file: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

function pathOf({ servers }: Agent): readonly string[] {
  return [...servers, SERVER_NAME]
}

function readEntry(agent: Agent, text: string): unknown {
  return agent.format === 'json' ? readJsonEntry(text, pathOf(agent)) : readTomlTable(text, pathOf(agent))
}

function setEntry(agent: Agent, text: string, entry: unknown): string {
  const path = pathOf(agent)
  const edited = agent.format === 'json' ? setJsonEntry(text, path, entry) : setTomlTable(text, path, Object(entry))
  return checkEdit(agent, text, edited, entry)
}

function removeEntry(agent: Agent, text: string): string {
  const path = pathOf(agent)
  return checkEdit(agent, text, agent.format === 'json' ? removeJsonEntry(text, path) : removeTomlTable(text, path))
}

/** Returns the edited text if it has the wanted entry, and everything else as before. Throws otherwise. */
function checkEdit(agent: Agent, before: string, after: string, entry?: unknown): string {
  const others = readOthers(agent, before)
  try {
    const isWanted = isDeepStrictEqual(readEntry(agent, after), entry)
    if (isWanted && isDeepStrictEqual(readOthers(agent, after), others)) return after
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error
  }
  const name = pathOf(agent).join('.')
  throw new ConfigSyntaxError('', 0, `${name} is written in a way that cannot be edited; change it by hand`)
}

/** The configuration without our entry, and without the objects that only held it. */
function readOthers(agent: Agent, text: string): unknown {
  const [outer = '', inner = ''] = pathOf(agent)
  const whole = agent.format === 'json' ? readJsonEntry(text, []) : readTomlTable(text, [])
  const { [outer]: servers, ...rest } = Object(whole ?? {}) as Record<string, unknown>
  const { [inner]: _, ...others } = Object(servers ?? {}) as Record<string, unknown>
  return [Object.keys(rest).length === 0 ? null : rest, Object.keys(others).length === 0 ? null : others]
}
