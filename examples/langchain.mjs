// Loads pages as LangChain documents, and answers a question from a library in a chain.
import { strict as assert } from 'node:assert'
import { StringOutputParser } from '@langchain/core/output_parsers'
import { ChatPromptTemplate } from '@langchain/core/prompts'
import { RunnablePassthrough, RunnableSequence } from '@langchain/core/runnables'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { PharosLoader, PharosRetriever } from 'pharos/langchain'
import { addSource, crawlSource, openLibrary } from 'pharos/node'
import { openDemoSite } from '../dist/cli/demo-site.js'

const demo = await openDemoSite()
const site = demo.origin
const library = await openLibrary({ path: ':memory:', version: '0.1.0', allowPrivate: ['127.0.0.1'] })

try {
  // Loads single pages.
  const loader = new PharosLoader([`${site}/guide/install`, `${site}/internal/roadmap`], {
    allowPrivate: ['127.0.0.1'],
  })
  const documents = await loader.load()
  for (const { url, error } of loader.lastFailures) console.log(`not read: ${url}, ${error.message}`)

  assert.deepEqual(
    documents.map(({ metadata }) => metadata.source_url),
    [`${site}/guide/install`],
  )
  assert.match(loader.lastFailures[0].error.message, /robots-disallow/)

  // Crawls a whole site into a library.
  const source = await addSource(library, { url: `${site}/`, name: 'lanternfish' })
  for await (const event of crawlSource(library, source, { kind: 'add' }, AbortSignal.timeout(30_000))) {
    if (event.type === 'settled') console.log(event.state, event.url)
  }

  // Retrieves passages that fit a prompt.
  const retriever = new PharosRetriever({ library, sources: ['lanternfish'], k: 4, tokens: 1500, language: 'en' })
  const passages = await retriever.invoke('how often is a message delivered before it is a dead letter')
  for (const { metadata } of passages) console.log(metadata.score.toFixed(2), metadata.citation)

  assert(passages.length > 0 && passages.length <= 4)
  assert.match(passages[0].pageContent, /ten by default, a message moves to the dead letter queue/)
  assert.equal(new URL(passages[0].metadata.url).pathname, '/guide/retries')

  // The model in this chain is fake: replace it with a real one.
  const model = new FakeListChatModel({ responses: ['After ten deliveries.'] })
  const formatPassages = (passages) =>
    passages.map(({ pageContent, metadata }) => `[${metadata.citation}]\n${pageContent}`).join('\n\n')
  const chain = RunnableSequence.from([
    { context: retriever.pipe(formatPassages), question: new RunnablePassthrough() },
    ChatPromptTemplate.fromTemplate('Answer from these passages, and name them:\n\n{context}\n\nQuestion: {question}'),
    model,
    new StringOutputParser(),
  ])
  const answer = await chain.invoke('When does a message become a dead letter?', {
    signal: AbortSignal.timeout(10_000),
  })

  assert.equal(answer, 'After ten deliveries.')
  console.log(answer)
} finally {
  await library.close()
  await demo.close()
}
