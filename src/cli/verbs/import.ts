import type { Command } from 'commander'
import { writeBytes } from '../../core/text/bytes.ts'
import { prepareImport } from '../../library/import/import-chunks.ts'
import { IMPORT_LIMITS, parseImportText } from '../../library/import/parse-import.ts'
import { crawlInForeground, embedAfterCrawl, withCrawlContext } from '../foreground-crawl.ts'
import { readInput } from '../input.ts'
import { addLibraryOptions } from '../library.ts'
import type { CommonFlags } from '../options/options.ts'
import { addEmbedOptions } from '../options/search-settings.ts'
import { countOf, type Streams } from '../terminal.ts'

interface ImportFlags extends CommonFlags {
  readonly name?: string
  readonly version?: string
  readonly acceptLoss?: boolean
}

const FORMAT = `
The file is JSON:
  {"source_url": "https://docs.example.com/",
   "chunks": [{"text": "# Install\\n…", "source_url": "https://docs.example.com/install",
               "section_path": "install/linux", "content_type": "prose",
               "last_updated": "2026-02-20T10:30:00Z", "language": "en"}, …]}
The outer source_url names the source, that of a chunk its page. section_path holds slugs of headings, content_type is
prose or code, language is optional. If any chunk is invalid, nothing is imported. Otherwise the file replaces the
earlier import of the same source_url and version. At most ${IMPORT_LIMITS.chunks} chunks of ${IMPORT_LIMITS.chunkChars} characters, ${writeBytes(IMPORT_LIMITS.bytes)}.
To resume an import that was interrupted while it was stored, run \`pharos recrawl <source>\`; the file is not needed.

Examples:
  $ pharos import chunks.json --name guide --version 2.1
  $ my-chunker ./docs | pharos import -`

/** `pharos import <file|->` */
export function addImport(program: Command, streams: Streams): void {
  const command = program
    .command('import')
    .description('import chunks that another program has made')
    .argument('<file|->', 'a file of chunks, or - for standard input')
    .option('--name <name>', 'name of the source (default: host and path of its source_url)')
    .option('--version <label>', 'version of the documented product')
    .option('--accept-loss', 'remove pages that are missing from the file, even if they are many')
    .addHelpText('after', FORMAT)
  addLibraryOptions(addEmbedOptions(command)).action(async (path: string, flags: ImportFlags) => {
    const { name: inputName, bytes } = await readInput(
      path,
      IMPORT_LIMITS.bytes,
      'split it into several sources, each with its own source_url',
    )
    const chunkFile = parseImportText(bytes, inputName)
    await withCrawlContext(command, streams, async (crawling) => {
      const { library, terminal, signal, isEmbedRequired: embed } = crawling
      const { name, version, acceptLoss } = flags
      const { source, input, keepVectors } = await prepareImport(library, chunkFile, {
        name,
        version,
        acceptLoss,
        embed,
        signal,
        onEmbedded: (chunks) => terminal.live(`embedding: ${countOf(chunks, 'chunk')} of ${chunkFile.chunks.length}`),
      })
      if (!embed) return crawlInForeground(crawling, source, input)
      await crawlInForeground({ ...crawling, library: { ...library, embedsNew: false } }, source, input)
      await keepVectors()
      await embedAfterCrawl(crawling, source)
    })
  })
}
