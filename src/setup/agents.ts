import { join } from 'node:path'

/** Folders of the user in which agents keep their configuration. */
export interface UserFolders {
  readonly home: string
  /** `~/.config`, `~/Library/Application Support` or `%APPDATA%`, by platform. */
  readonly applicationConfig: string
  /** `~/.config`, or `%APPDATA%` on Windows. */
  readonly config: string
}

/** How an agent starts an MCP server. */
export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
}

/** An agent that can use MCP servers, and where it reads them from. */
export interface Agent {
  readonly id: string
  readonly name: string
  readonly format: 'json' | 'toml'
  /** The keys that lead to the servers by name. */
  readonly servers: readonly string[]
  /** The configuration file of the user. */
  readonly globalFile: (folders: UserFolders) => string
  /** The configuration file of a project, relative to its folder; undefined if the agent has none. */
  readonly projectFile?: string
  /** Files and folders that exist if the agent is installed. */
  readonly traces: (folders: UserFolders) => readonly string[]
  /** The entry of a server. */
  readonly writeEntry: (server: ServerCommand) => object
  /** Folder of skills, in the home folder and in a project; undefined if the agent reads none. */
  readonly skills?: string
}

const plainEntry = ({ command, args }: ServerCommand): object => ({ command, args })

/** The supported agents, in the order in which they are shown. */
export const AGENTS: readonly Agent[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    format: 'json',
    servers: ['mcpServers'],
    globalFile: ({ home }) => join(home, '.claude.json'),
    projectFile: '.mcp.json',
    traces: ({ home }) => [join(home, '.claude.json'), join(home, '.claude')],
    writeEntry: (server) => ({ type: 'stdio', ...plainEntry(server) }),
    skills: '.claude/skills',
  },
  {
    id: 'claude-desktop',
    name: 'Claude Desktop',
    format: 'json',
    servers: ['mcpServers'],
    globalFile: ({ applicationConfig }) => join(applicationConfig, 'Claude', 'claude_desktop_config.json'),
    traces: ({ applicationConfig }) => [join(applicationConfig, 'Claude')],
    writeEntry: plainEntry,
  },
  {
    id: 'cursor',
    name: 'Cursor',
    format: 'json',
    servers: ['mcpServers'],
    globalFile: ({ home }) => join(home, '.cursor', 'mcp.json'),
    projectFile: '.cursor/mcp.json',
    traces: ({ home }) => [join(home, '.cursor')],
    writeEntry: plainEntry,
  },
  {
    id: 'vscode',
    name: 'VS Code',
    format: 'json',
    servers: ['servers'],
    globalFile: ({ applicationConfig }) => join(applicationConfig, 'Code', 'User', 'mcp.json'),
    projectFile: '.vscode/mcp.json',
    traces: ({ applicationConfig }) => [join(applicationConfig, 'Code', 'User')],
    writeEntry: (server) => ({ type: 'stdio', ...plainEntry(server) }),
  },
  {
    id: 'windsurf',
    name: 'Windsurf',
    format: 'json',
    servers: ['mcpServers'],
    globalFile: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    traces: ({ home }) => [join(home, '.codeium', 'windsurf')],
    writeEntry: plainEntry,
  },
  {
    id: 'codex',
    name: 'Codex',
    format: 'toml',
    servers: ['mcp_servers'],
    globalFile: ({ home }) => join(home, '.codex', 'config.toml'),
    projectFile: '.codex/config.toml',
    traces: ({ home }) => [join(home, '.codex')],
    writeEntry: plainEntry,
  },
  {
    id: 'gemini',
    name: 'Gemini CLI',
    format: 'json',
    servers: ['mcpServers'],
    globalFile: ({ home }) => join(home, '.gemini', 'settings.json'),
    projectFile: '.gemini/settings.json',
    traces: ({ home }) => [join(home, '.gemini')],
    writeEntry: plainEntry,
  },
  {
    id: 'zed',
    name: 'Zed',
    format: 'json',
    servers: ['context_servers'],
    globalFile: ({ config }) => join(config, 'zed', 'settings.json'),
    projectFile: '.zed/settings.json',
    traces: ({ config }) => [join(config, 'zed')],
    writeEntry: plainEntry,
  },
  {
    id: 'opencode',
    name: 'opencode',
    format: 'json',
    servers: ['mcp'],
    globalFile: ({ config }) => join(config, 'opencode', 'opencode.json'),
    projectFile: 'opencode.json',
    traces: ({ config }) => [join(config, 'opencode')],
    writeEntry: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
  },
]

/** The name of our server in the configuration of an agent. */
export const SERVER_NAME = 'pharos'
