import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { checkCode as check } from '../../library/check/check-code.ts'
import { countVerdicts, describePlace, listReasons, writeSummary } from '../../library/check/write-check.ts'
import { CODE_LANGUAGES } from '../../library/ports/code-checker.ts'
import { oneLine } from '../../library/search/display-text.ts'
import { createTool, type Tool } from '../tool.ts'

/** Longest code that is checked at once. */
const MAX_CHARS = 200_000

/** `check_code`: looks up the names that code uses in the packages of the project. */
export const checkCode: Tool = createTool({
  name: 'check_code',
  description:
    'Looks up each import, member, named option and call of code in the declarations of the locked package versions. Answers what is not in this version, with the nearest name, and what is unknown. Names and numbers of arguments only, no types. Call it with code that uses packages, before you hand it over.',
  effects: { isReadOnly: true },
  isSafe: true,
  input: z.strictObject({
    code: z.string().max(MAX_CHARS).describe('Whole file, or Markdown with code blocks.'),
    language: z.enum(CODE_LANGUAGES).optional().describe('Default: typescript, which includes JavaScript.'),
  }),
  output: z.object({
    exists: z.number(),
    missing: z.number(),
    unknown: z.number(),
    places: z.array(
      z.object({
        line: z.number(),
        column: z.number(),
        kind: z.string(),
        name: z.string(),
        verdict: z.string(),
        package: z.string().nullable(),
        declaredAt: z.string().nullable(),
        nearest: z.string().nullable(),
        inVersions: z.array(z.string()),
        why: z.string(),
      }),
    ),
  }),
  async run({ code, language = 'typescript' }, { library, project }) {
    if (project === undefined) throw usageError('this server belongs to no project')
    const { places, notes } = await check(project.checker, { code, language }, () =>
      // The library only adds hints.
      library().catch(() => undefined),
    )
    const open = places.filter(({ verdict }) => verdict !== 'exists')
    const missing = open.filter(({ verdict }) => verdict === 'not in this version')
    const lines = [
      `${writeSummary(places)}.`,
      ...missing.map((place) => `${place.line}:${place.column} ${describePlace(place)}`),
      ...listReasons(places),
      ...notes,
    ]
    return {
      content: [lines.map(oneLine).join('\n')],
      structured: {
        ...countVerdicts(places),
        places: open.map(({ address: _address, ...place }) => ({ ...place, inVersions: [...place.inVersions] })),
      },
    }
  },
})
