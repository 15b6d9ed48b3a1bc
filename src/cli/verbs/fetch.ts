import type { Command } from 'commander'
import { hideCredentials } from '../../core/url/credentials.ts'
import { fetchUrl } from '../../library/crawl/fetch-url.ts'
import { interruptible } from '../interrupt.ts'
import { addLibraryOptions, withLibrary } from '../library.ts'
import { parseHeaders } from '../options/headers.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { addRenderOption, type RenderFlags, renderOf } from '../options/render-option.ts'
import { addHeaderOption } from '../options/scope-options.ts'
import { printable, printableLine, type Streams, Terminal } from '../terminal.ts'

interface FetchFlags extends CommonFlags, RenderFlags {
  readonly header?: readonly string[]
  readonly ignoreRobots?: boolean
}

/** `pharos fetch <url>` */
export function addFetch(program: Command, streams: Streams): void {
  const command = program
    .command('fetch')
    .description('fetch one page or document and print it as Markdown; nothing is stored')
    .argument('<url>', 'address of the page')
    .option('--ignore-robots', 'fetch the page even if robots.txt disallows it')
    .addHelpText('after', '\nExample:\n  $ pharos fetch https://docs.example.com/guide/install')
  addLibraryOptions(addHeaderOption(addRenderOption(command, 'default: http')), [
    'allowPrivate',
    'maxPageBytes',
    'contactUrl',
    'proxy',
    'browser',
  ])
  command.action(async (url: string, flags: FetchFlags) => {
    const headers = parseHeaders(flags.header)
    const terminal = new Terminal(flags, streams)
    terminal.live(`fetching ${printableLine(hideCredentials(url))}`)
    try {
      const obeysRobots = flags.ignoreRobots !== true
      const page = await interruptible((signal) =>
        withLibrary(configOf(command), (library) =>
          fetchUrl(library, url, { headers, obeysRobots, ...renderOf(flags), signal }),
        ),
      )
      const markdown = page.markdown.trimEnd()
      terminal.answer(terminal.isAnswerOnTerminal ? printable(markdown) : markdown, page)
    } finally {
      terminal.clear()
    }
  })
}
