import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { showDocument } from '../../test/document-markdown.ts'
import { convertMan } from './man.ts'

const show = async (...lines: string[]) => {
  const { markdown } = await showDocument(convertMan, lines.join('\n'), 'man1/x.1')
  return markdown.replace('# x(1)\n\n', '').trim()
}

const PAGE = [
  String.raw`.\" A comment`,
  '.TH LS 1 "2024-05-01" "coreutils" "User Commands"',
  '.SH NAME',
  String.raw`ls \- list directory contents`,
  '.SH DESCRIPTION',
  '.TP',
  String.raw`\fB\-a\fR, \fB\-\-all\fR`,
  'do not ignore entries',
  '.SS "Exit status:"',
  'Zero.',
].join('\n')

describe('a manual page', () => {
  test('has a name, a date and sections', async () => {
    const { about, markdown, sections } = await showDocument(convertMan, PAGE, 'usr/share/man/de/man1/ls.1')
    expect(about).toEqual({ title: 'ls(1)', author: null, language: 'de', modifiedAt: '2024-05-01' })
    expect(markdown).toBe(
      '# ls(1)\n\n## NAME\n\nls - list directory contents\n\n## DESCRIPTION\n\n**-a, --all**\n\ndo not ignore entries\n\n### Exit status:\n\nZero.\n',
    )
    expect(sections[0]?.children.map(({ anchor }) => anchor)).toEqual(['name', 'description'])
  })

  test('may be compressed', async () => {
    const { about } = await showDocument(convertMan, gzipSync(PAGE), 'man1/ls.1.gz')
    expect(about.title).toBe('ls(1)')
  })

  test('is refused with the name of another page if it only includes that page', () => {
    expect(() => convertMan(new TextEncoder().encode('.so man1/bash.1\n'), 'man1/sh.1')).toThrow('man1/bash.1')
  })

  test('is refused if it is damaged or excessively large', () => {
    expect(() => convertMan(gzipSync(PAGE).subarray(0, 50), 'man1/ls.1.gz')).toThrow('cannot be unpacked')
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024, 'a'))
    expect(() => convertMan(bomb, 'man1/ls.1.gz')).toThrow('too large')
  })
})

describe('convertMan with man macros', () => {
  test('converts fonts', async () => {
    expect(await show('.B bold words', '.I file', '.BR ls (1),', '.B', 'next line')).toBe(
      '**bold words** *file* **ls**(1), **next line**',
    )
    expect(await show(String.raw`a \fIb\fP c \f(CWd\fR \(em \[u00E9] \(aq\e\&x`)).toBe("a *b* c `d` — é '\\x")
  })

  test('converts lists of terms, bullets and numbers, also nested', async () => {
    expect(await show('.TP', '.B \\-x', 'One.', '.TQ', '.B \\-y', 'Two.')).toBe('**-x**\n\nOne.\n\n**-y**\n\nTwo.')
    expect(await show(String.raw`.IP \(bu 2`, 'a', '.RS', '.IP 1. 4', 'inside', '.RE', '.IP \\(bu', 'b')).toBe(
      '- a\n  1. inside\n- b',
    )
  })

  test('converts the terms and bullets that page generators write', async () => {
    const lines = ['.PP', '\\-\\-all', '.RS 4', 'All of it.', '.RE', '.PP', '\\-\\-one', '.RS 4', 'One.', '.RE']
    expect(await show(...lines)).toBe('**--all**\n\nAll of it.\n\n**--one**\n\nOne.')
    const bullet = [
      '.RS 4',
      '.ie n \\{\\',
      "\\h'-04'\\(bu\\h'+03'\\c",
      '.\\}',
      '.el \\{\\',
      '.IP \\(bu 2.3',
      '.\\}',
      'Item.',
      '.RE',
    ]
    expect(await show(...bullet, '.sp', ...bullet)).toBe('- Item.\n- Item.')
  })

  test('converts code', async () => {
    expect(await show('Do:', '.nf', String.raw`\fBint\fR a;`, '', '  b', '.fi', 'End.')).toBe(
      'Do:\n\n```\nint a;\n\n  b\n```\n\nEnd.',
    )
    expect(await show('.EX', 'x', '.EE')).toBe('```\nx\n```')
  })

  test('converts tables', async () => {
    const lines = [
      '.TS',
      'allbox tab(:);',
      'lb lb',
      'l l.',
      'Name:Size',
      'a:T{',
      'two',
      '.B words',
      'T}',
      '.TE',
      'End.',
    ]
    expect(await show(...lines)).toBe('| Name | Size |\n| --- | --- |\n| a | two **words** |\n\nEnd.')
  })

  test('converts links', async () => {
    expect(await show('.UR https://example.org/', 'the site', '.UE .')).toContain('](https://example.org/)')
  })
})

describe('convertMan with roff requests', () => {
  test('evaluates macros, strings and conditions that the page defines', async () => {
    const lines = [
      '.de XX',
      '.B \\\\$1',
      'and \\\\$2',
      '..',
      '.ds name the \\*(in',
      '.ds in value',
      '.XX first second',
      '\\*[name]',
    ]
    expect(await show(...lines)).toBe('**first** and second the value')
    expect(await show('.if n no', '.if t yes', '.ie \\n(.g groff', '.el other', '.if !t \\{', 'no', '.\\}')).toBe(
      'yes groff',
    )
    expect(await show('.ig', 'hidden', '..', 'shown\\', ' line')).toBe('shown line')
  })

  test('refuses macros that recurse or grow without end', async () => {
    await expect(show('.de a', '.a', '.a', '..', ...Array<string>(500).fill('.a'))).rejects.toThrow('too many lines')
    const strings = ['a', 'b', 'c'].map((name, i) => `.ds ${name} ${`\\*${'bcd'[i]}`.repeat(1000)}`)
    await expect(show(...strings, '.ds d x', '\\*a')).rejects.toThrow('too much text')
    await expect(show('.de a', '\\$1'.repeat(5000), '..', `.a ${'x'.repeat(5000)}`)).rejects.toThrow('too much text')
  })

  test.each(['\\f', '\\h', "\\h'", '\\[', '.if n \\{\n', '.RS\n', '.TS\n', '\\', '.BR a b '])(
    'stays fast when %j is repeated 3000 times',
    async (part) => {
      const { markdown } = await showDocument(convertMan, `Text\n${part.repeat(3000)}`, 'man1/x.1')
      expect(markdown).toContain('Text')
    },
  )
})

describe('mdoc macros', () => {
  test('mark words by their meaning', async () => {
    const { about, markdown } = await showDocument(
      convertMan,
      [
        '.Dd May 1, 2024',
        '.Dt CAT 1',
        '.Os',
        '.Sh NAME',
        '.Nm cat',
        '.Nd concatenate files',
        '.Sh SYNOPSIS',
        '.Nm',
        '.Op Fl benu',
        '.Op Ar file ...',
        '.Sh DESCRIPTION',
        'See',
        '.Xr head 1 ,',
        '.Pa /etc/x ,',
        '.Ev HOME',
        'and',
        '.Dq Li quoted .',
        '.Bl -tag -width Ds',
        '.It Fl b Ar n',
        'Number',
        '.Em lines .',
        '.It Fl n',
        '.Bl -bullet',
        '.It',
        'inside',
        '.El',
        '.El',
        '.Bd -literal',
        'code  here',
        '.Ed',
      ].join('\n'),
      'man1/cat.1',
    )
    expect(about).toMatchObject({ title: 'cat(1)', modifiedAt: '2024-05-01' })
    expect(markdown).toBe(
      [
        '# cat(1)',
        '## NAME',
        '**cat** — concatenate files',
        '## SYNOPSIS',
        '**cat** [**-benu**] [*file* *...*]',
        '## DESCRIPTION',
        'See head(1), */etc/x*, `HOME` and “`quoted`”.',
        '**-b n**',
        'Number *lines*.',
        '**-n**',
        '- inside',
        '```\ncode  here\n```\n',
      ].join('\n\n'),
    )
  })
})

test('roff escapes in an address and its label are resolved', async () => {
  const markdown = await show('.TH X 1', '.SH SEE ALSO', '.URL https://example.org/util\\-linux util\\-linux .')
  expect(markdown).toContain('[util-linux](https://example.org/util-linux).')
})
