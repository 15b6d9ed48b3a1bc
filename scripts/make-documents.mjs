// Makes the documents in test/documents from their sources there, with LibreOffice, LaTeX and qpdf. The results are committed, so that
// tests need none of these programs. Run this script only after a source has changed:
//
//   apt-get install --no-install-recommends libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui \
//     texlive-latex-base qpdf
//   node scripts/make-documents.mjs
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { zipSync } from 'fflate'

const documents = fileURLToPath(new URL('../test/documents/', import.meta.url))
const sources = join(documents, 'sources')
const scratch = mkdtempSync(join(tmpdir(), 'pharos-documents-'))
// Fixed dates, so that the output does not depend on the build time, as far as the programs support it.
const env = { ...process.env, SOURCE_DATE_EPOCH: '1772616600', FORCE_SOURCE_DATE: '1' }
const run = (program, ...args) =>
  execFileSync(program, args, { cwd: scratch, env, stdio: ['ignore', 'ignore', 'pipe'] })

try {
  convert('guide.fodt', 'docx', 'odt', 'rtf', 'pdf')
  convert('talk.fodp', 'pptx')
  convert('harbour.fods', 'xlsx')
  writeEpub('book')
  typeset('paper')
  typeset('scan')
  run('qpdf', '--encrypt', 'reader', 'owner', '256', '--', join(documents, 'scan.pdf'), join(documents, 'locked.pdf'))
} finally {
  rmSync(scratch, { recursive: true })
}
for (const name of readdirSync(documents).sort()) console.log(name, statSync(join(documents, name)).size)

function convert(source, ...formats) {
  for (const format of formats) {
    const profile = `-env:UserInstallation=file://${scratch}/profile`
    run('soffice', profile, '--headless', '--convert-to', format, '--outdir', documents, join(sources, source))
  }
}

/** Runs LaTeX twice, because references and links are known only after the first pass. */
function typeset(name) {
  for (let pass = 0; pass < 2; pass++) run('pdflatex', '-interaction=batchmode', join(sources, `${name}.tex`))
  copyFileSync(join(scratch, `${name}.pdf`), join(documents, `${name}.pdf`))
}

/** Packs the files of a folder into an EPUB, because EPUBs from LibreOffice have no headings. The type entry comes first, uncompressed. */
function writeEpub(name) {
  const folder = join(sources, name)
  const mtime = new Date(env.SOURCE_DATE_EPOCH * 1000)
  const files = { mimetype: [readFileSync(join(folder, 'mimetype')), { level: 0, mtime }] }
  for (const path of readdirSync(folder, { recursive: true }).sort()) {
    const file = join(folder, path)
    if (path !== 'mimetype' && statSync(file).isFile()) files[path] = [readFileSync(file), { level: 9, mtime }]
  }
  writeFileSync(join(documents, `${name}.epub`), zipSync(files))
}
