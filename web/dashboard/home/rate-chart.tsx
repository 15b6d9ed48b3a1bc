import { useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { theme } from '../../shared/theme.ts'
import { now } from '../clock.ts'
import type { RateWindow } from './rate-window.ts'

const HEIGHT = 92

/** Draws the pages per second of the run, at most of the past hour. The current value is shown as a number beside the chart. */
export function RateChart({ rates }: { readonly rates: RateWindow }): JSX.Element {
  const container = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | null>(null)

  useEffect(() => {
    const { current } = container
    if (current === null) return
    let isUnmounted = false
    const observer = new ResizeObserver(() => chart.current?.setSize({ width: current.clientWidth, height: HEIGHT }))
    // Loaded with the first chart, because the other pages do not need uPlot.
    void import('uplot').then(({ default: UPlot }) => {
      if (isUnmounted) return
      chart.current = new UPlot(createOptions(current.clientWidth), readData(rates), current)
      observer.observe(current)
    })
    return () => {
      isUnmounted = true
      observer.disconnect()
      chart.current?.destroy()
      chart.current = null
    }
  }, [rates])

  useSignalEffect(() => {
    const moment = now.value
    chart.current?.setData(readData(rates, moment))
    container.current?.setAttribute('data-from', String(rates.startedAt ?? ''))
  })

  useSignalEffect(() => {
    theme.value
    chart.current?.redraw(false, true)
  })

  return (
    <div
      class="rate-chart"
      ref={container}
      role="img"
      aria-label="Pages per second since the crawl began, at most of the past hour"
    />
  )
}

function readData(rates: RateWindow, moment: number = Date.now()): uPlot.AlignedData {
  const { seconds, rates: values } = rates.readSeries(moment)
  return [[...seconds], [...values]]
}

function createOptions(width: number): uPlot.Options {
  const color = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  const font = '11px system-ui, sans-serif'
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [6, 16, 0, 0],
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, roundUp(max)] } },
    axes: [
      {
        stroke: color('--text-2'),
        font,
        size: 20,
        gap: 2,
        grid: { show: false },
        ticks: { show: false },
        splits: (self) => listSplits(self.scales['x']?.min ?? 0, self.scales['x']?.max ?? 0),
        values: (self, splits) => splits.map((at) => writeAxisLabel((self.scales['x']?.max ?? 0) - at)),
      },
      {
        stroke: color('--text-2'),
        font,
        size: 30,
        gap: 2,
        ticks: { show: false },
        grid: { stroke: color('--line'), width: 1 },
        splits: (self) => [0, 0.5, 1].map((share) => share * (self.scales['y']?.max ?? 1)),
        values: (_, splits) => splits.map((rate) => String(Number(rate.toFixed(2)))),
      },
    ],
    series: [
      {},
      {
        stroke: color('--chart-1'),
        fill: () => `color-mix(in srgb, ${color('--chart-1')()} 18%, transparent)`,
        width: 1.5,
        points: { show: false },
      },
    ],
  }
}

function listSplits(min: number, max: number): number[] {
  return [0.75, 0.5, 0.25, 0].map((share) => max - share * (max - min))
}

/** Rounds up to 1, 2, 4, 6, 8, 10, 20 and so on, for the label of the top grid line. */
function roundUp(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, max)))
  const step = [1, 2, 4, 6, 8, 10].find((candidate) => candidate * power >= max) ?? 10
  return step * power
}

function writeAxisLabel(seconds: number): string {
  if (seconds < 1) return 'now'
  return seconds < 120 ? `−${Math.round(seconds)} s` : `−${Math.round(seconds / 60)} min`
}
