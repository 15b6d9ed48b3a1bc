import { render } from 'preact'
import { sanitizeRenderedText } from '../shared/showable.ts'
import { App } from './app.tsx'
import { connectLive } from './live.ts'

sanitizeRenderedText()
connectLive()
const place = document.getElementById('app')
if (place !== null) render(<App />, place)
