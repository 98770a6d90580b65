import { notFound } from 'next/navigation'

export default function Gone(): never {
  notFound()
}
