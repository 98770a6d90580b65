import express, { type Express } from 'express'
import { answer } from './faults.ts'

/** An app of Express 5. */
export default function app(): Express {
  return express().use((request, response) => void answer(request, response))
}
