import { render } from 'preact'
import { App } from './app.tsx'
import { connectLive } from './live.ts'

connectLive()
const place = document.getElementById('app')
if (place !== null) render(<App />, place)
