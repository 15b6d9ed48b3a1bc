import { writeNumber } from '../core/text/count.ts'
import { clipText } from '../core/text/lines.ts'
import { quote } from '../library/search/display-text.ts'
import { labelOf } from '../library/source.ts'
import { PAGE_TEXT_RULE } from './page-text.ts'
import type { SourceName } from './ports.ts'

/** Limits for the number of named sources, and for the length of each name. */
const MAX_NAMED = 20
const MAX_NAME_CHARS = 80

/** The instructions for a client at connection time. `sources` is undefined while they are unknown. */
export function writeInstructions(sources: readonly SourceName[] | undefined, isReadOnly: boolean): string {
  return [
    'Pharos searches documentation in a local library.',
    writeSourceNames(sources, isReadOnly),
    isReadOnly
      ? 'This server is read-only: it adds, fetches and changes nothing.'
      : 'add_source adds a site, repository or package that is missing; crawl_status shows when it can be searched.',
    PAGE_TEXT_RULE,
  ].join(' ')
}

function writeSourceNames(sources: readonly SourceName[] | undefined, isReadOnly: boolean): string {
  if (sources === undefined) return 'Start with search_docs; list_sources shows what the library holds.'
  if (sources.length === 0) return `The library is empty${isReadOnly ? '' : ': start with add_source'}.`
  const names = sources.slice(0, MAX_NAMED).map((source) => quote(clipText(labelOf(source), MAX_NAME_CHARS)))
  const rest = sources.length - names.length
  const more = rest === 0 ? '' : ` and ${writeNumber(rest)} more, which list_sources shows`
  return `It holds ${names.join(', ')}${more}. Ask search_docs before you answer questions about these from memory.`
}
