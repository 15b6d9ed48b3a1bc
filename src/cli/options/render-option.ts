import type { Command } from 'commander'
import { RENDERINGS, type Rendering } from '../../library/source.ts'
import { oneOf } from './options.ts'

/** The flag that selects how pages are rendered. */
export interface RenderFlags {
  readonly render?: Rendering
}

/** Adds the flag; `note` is appended to its description. */
export function addRenderOption(command: Command, note: string): Command {
  const what = 'how to read pages: http (no browser), auto (a browser if a page needs one), chromium (always a browser)'
  return command.option(
    '--render <how>',
    `${what} or crawl4ai (the Crawl4AI service) (${note})`,
    oneOf('--render', RENDERINGS),
  )
}

/** The rendering that was given, as an option; empty if none was. */
export function renderOf({ render }: RenderFlags): RenderFlags {
  return render === undefined ? {} : { render }
}
