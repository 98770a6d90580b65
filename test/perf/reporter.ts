import { writeFileSync } from 'node:fs'
import { styleText } from 'node:util'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import type { SerializedError } from 'vitest'
import { finalMarkdown, finalText } from './final-report.ts'
import { RESULTS } from './report-file.ts'
import { lastRun, readResults } from './readme-figures/record.ts'

/** Shows a performance run: the current step and the remaining time in one line, and each verdict. */
export default class PerfReporter implements Reporter {
  readonly #out: NodeJS.WriteStream = process.stdout
  readonly #began: number = performance.now()
  #lineIsOpen = false
  #lastTold = 0
  #passed = 0
  /** Claims that hold or were refuted, and inconclusive ones. */
  #decided = 0
  #inconclusive = 0
  /** Failures, repeated at the end: people read a long log from there. */
  readonly #failures: string[] = []

  onTestCaseReady(test: TestCase): void {
    this.#show(test.name)
  }

  onTestCaseAnnotate(test: TestCase, { type, message }: ReturnType<TestCase['annotations']>[number]): void {
    if (type === 'progress') this.#show(`${test.name}: ${message}`)
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    const { state, errors } = result
    const note = result.state === 'skipped' ? result.note : undefined
    const evidence = test.annotations().filter(({ type }) => type === 'evidence')
    if (state === 'passed') this.#passed++
    if (evidence.length > 0) this.#decided++
    if (note?.startsWith('inconclusive')) this.#inconclusive++
    const mark =
      state === 'passed'
        ? styleText('green', '✓')
        : state === 'failed'
          ? styleText('red', '✗')
          : styleText('yellow', '-')
    this.#print(`${mark} ${test.name} ${styleText('dim', `${Math.round(test.diagnostic()?.duration ?? 0) / 1000} s`)}`)
    for (const { message } of evidence) this.#print(styleText('dim', `    ${message}`))
    if (note !== undefined) this.#print(styleText('yellow', note.replaceAll(/^/gm, '    ')))
    const reasons = (errors ?? []).map(({ message }) => styleText('red', message.replaceAll(/^/gm, '    ')))
    for (const reason of reasons) this.#print(reason)
    if (state === 'failed')
      this.#failures.push([`${mark} ${test.module.relativeModuleId}: ${test.name}`, ...reasons].join('\n'))
  }

  onTestModuleCollected(module: TestModule): void {
    this.#print(styleText('bold', module.relativeModuleId))
  }

  /** The tables that a suite prints at its end. */
  onUserConsoleLog({ content, type }: { content: string; type: 'stdout' | 'stderr' }): void {
    this.#clear()
    ;(type === 'stdout' ? this.#out : process.stderr).write(content)
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const errors = [
      ...unhandled,
      ...modules.flatMap((module) => [
        ...module.errors(),
        ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
      ]),
    ]
    this.#failures.push(...errors.map(({ message, stack }) => styleText('red', stack ?? message)))
    if (this.#inconclusive > this.#decided) {
      this.#failures.push(styleText('red', 'Most claims are inconclusive: such a run proves nothing.'))
      process.exitCode = 1
    }
    this.#printReport()
    for (const failure of this.#failures) this.#print(failure)
    this.#print(
      `\nThe report is results/report.html and results/report.md, this took ${Math.round((performance.now() - this.#began) / 1000)} s.`,
    )
    const inconclusive = this.#inconclusive > 0 ? `, ${this.#inconclusive} inconclusive` : ''
    this.#print(`${this.#passed} passed, ${this.#failures.length} failed${inconclusive}`)
  }

  /** The report of all suites, unless none has ended. */
  #printReport(): void {
    const run = lastRun(RESULTS)
    if (!run || run.startedAt < performance.timeOrigin) return
    const results = readResults()
    this.#print(`\n${finalText(run, results, this.#out.columns ?? Infinity)}\n`)
    writeFileSync(new URL('report.md', RESULTS), finalMarkdown(run, results))
  }

  #show(text: string): void {
    if (this.#out.isTTY) {
      this.#clear()
      this.#out.write(styleText('dim', `… ${text}`.slice(0, this.#out.columns - 1)))
      this.#lineIsOpen = true
    } else if (performance.now() - this.#lastTold > 15_000) {
      // A log file wants a sign of life, not a line a second.
      this.#lastTold = performance.now()
      this.#print(`… ${text}`)
    }
  }

  #print(text: string): void {
    this.#clear()
    this.#out.write(`${text}\n`)
  }

  #clear(): void {
    if (this.#lineIsOpen) this.#out.write('\r\u001B[K')
    this.#lineIsOpen = false
  }
}
