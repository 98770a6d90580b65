'use client'

export { default } from '../../web/app/error'
