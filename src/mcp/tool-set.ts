/** The tool sets: all tools, or only those that an agent needs to ask questions. */
export const TOOL_SETS = ['all', 'ask'] as const

/** One of {@link TOOL_SETS}. */
export type ToolSet = (typeof TOOL_SETS)[number]
