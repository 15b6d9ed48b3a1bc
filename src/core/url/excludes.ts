/**
 * The pattern of a path that is never a page: a list file that discovery reads, or an archive. A name counts at any depth and in any case;
 * an extension does not count in a folder: `/next.js/` is a page about next.js.
 */
export function findHardExclude(path: string): string | undefined {
  const name = baseName(path)
  const list = MAYBE_LIST_FILE.test(name) ? LIST_FILE_NAMES.find(([, regex]) => regex.test(name))?.[0] : undefined
  return list ?? endingPattern(path, ARCHIVE_EXTENSIONS)
}

/** The pattern of a path that can only be an asset of a page, such as an image or a script. */
export function findDefaultExclude(path: string): string | undefined {
  return endingPattern(path, ASSET_EXTENSIONS)
}

/** The pattern of the list file that is never a page, even when it is requested. */
export const LLMS_TXT = 'llms.txt'

const LIST_FILE_NAMES: readonly (readonly [pattern: string, regex: RegExp])[] = [
  [LLMS_TXT, /^llms\.txt$/i],
  ['llms-full.txt', /^llms-full\.txt$/i],
  ['robots.txt', /^robots\.txt$/i],
  ['sitemap*.xml', /^sitemap.*\.xml$/i],
  ['sitemap*.xml.gz', /^sitemap.*\.xml\.gz$/i],
]

/** Whether a pattern is that of a list file. */
export function isListPattern(pattern: string | null): boolean {
  return LIST_FILE_NAMES.some(([name]) => name === pattern)
}

/** Common prefixes of all patterns, a fast check that excludes most names. */
const MAYBE_LIST_FILE = /^(?:llms|robots|sitemap)/i

const ARCHIVE_EXTENSIONS: ReadonlySet<string> = new Set(
  'zip tar tgz gz bz2 xz 7z rar zst jar whl deb rpm dmg exe msi iso apk'.split(' '),
)

/** Images, fonts, styles, scripts, media, maps. Not pdf, json, xml, txt and md, which can be read. */
const ASSET_EXTENSIONS: ReadonlySet<string> = new Set(
  [
    'png jpg jpeg gif webp avif svg svgz ico bmp tif tiff apng jxl heic',
    'woff woff2 ttf otf eot',
    'css scss sass less',
    'js mjs cjs wasm swf',
    'mp3 mp4 m4a m4v webm ogg oga ogv opus wav flac aac avi mov mkv wmv mpg mpeg',
    'map',
  ]
    .join(' ')
    .split(' '),
)

/** `/a/b.PNG` → `*.png`, if png is among the extensions. A name that is only an extension, as in `/wiki/.zip`, has none. */
function endingPattern(path: string, endings: ReadonlySet<string>): string | undefined {
  const dot = path.lastIndexOf('.')
  if (dot < 1 || path[dot - 1] === '/') return undefined
  const ending = path.slice(dot + 1).toLowerCase()
  return endings.has(ending) ? `*.${ending}` : undefined
}

function baseName(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end)
}
