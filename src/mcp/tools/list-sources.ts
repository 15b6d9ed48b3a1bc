import { z } from 'zod'
import { quoteSpaced } from '../../library/search/display-text.ts'
import { writeEmptyLibrary } from '../empty-library.ts'
import { LISTED_SOURCE, type ListedSource, listedRecord, readSourceList, writeListed } from '../source-list.ts'
import { createTool, type Tool } from '../tool.ts'

/** `list_sources`: lists the sources of the library, those of the project first. */
export const listSources: Tool = createTool({
  name: 'list_sources',
  description:
    'Lists the sources in the library: name, version, URL, status, size, last crawl; those that the current project uses first. Shows what search_docs can answer from.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({}),
  output: z.object({
    project: z.string().optional(),
    sources: z.array(LISTED_SOURCE.extend({ inProject: z.boolean().optional() })),
  }),
  async run(_args, { library, isReadOnly, project }) {
    const listed = await readSourceList(await library())
    const { name, own, others } = await splitByProject(listed, project?.folder)
    const write = (source: ListedSource) => writeListed(source, isReadOnly)
    const lines =
      name === undefined
        ? others.map(write)
        : [
            `Used by the project ${quoteSpaced(name)}:`,
            ...own.map(write),
            ...(others.length === 0 ? [] : ['Others:']),
            ...others.map(write),
          ]
    const record = (inProject: boolean) => (source: ListedSource) => ({ ...listedRecord(source), inProject })
    return {
      content: [lines.length === 0 ? writeEmptyLibrary(isReadOnly) : lines.join('\n')],
      structured:
        name === undefined
          ? { sources: others.map(listedRecord) }
          : { project: name, sources: [...own.map(record(true)), ...others.map(record(false))] },
    }
  },
})

/** Splits sources by whether the project of a folder uses them. All are others if the library knows no such project. */
async function splitByProject(
  listed: readonly ListedSource[],
  folder: string | undefined,
): Promise<{ readonly name?: string; readonly own: ListedSource[]; readonly others: ListedSource[] }> {
  const { findProject, isUsedBy } = await import('../../library/projects/plan-project.ts')
  const sources = listed.map(({ source }) => source)
  const project = folder === undefined ? undefined : findProject(sources, folder)
  if (project === undefined) return { own: [], others: [...listed] }
  const isOwn = ({ source }: ListedSource) => isUsedBy(source, project)
  return { name: project.name, own: listed.filter(isOwn), others: listed.filter((one) => !isOwn(one)) }
}
