import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/**
 * Writes orders.csv.gz: a year of a web shop, with the flaws real exports have (missing values, a few texts in number
 * columns, quoted notes). Only + - * / and Math.floor on seeded numbers, so every machine writes the same text.
 *
 *     node functions/examples/samples/make-orders.ts
 */
export const ORDER_ROWS = 100_000;

const HEADER =
  'order_id,ordered_at,customer_id,customer_age,country,channel,sku,category,quantity,unit_price,discount,total,' +
  'weight_kg,shipping_days,rating,express,delivered_on,note';

const COUNTRIES = ['DE', 'DE', 'DE', 'US', 'US', 'FR', 'FR', 'GB', 'GB', 'NL', 'ES', 'IT', 'PL', 'AT', 'SE', 'PT'];
const CHANNELS = ['web', 'web', 'web', 'app', 'app', 'store', 'partner'];
const CATEGORIES = ['Garden', 'Kitchen', 'Books', 'Toys', 'Lighting', 'Office', 'Sports', 'Audio'];
const NOTES = [
  'Leave with neighbour',
  'Ring twice, please',
  'Gift: "Happy birthday!"',
  'Call before delivery\nAsk for Kim',
];
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2025, 0, 1);

type Random = () => number;

/** Mulberry32: small, seeded, the same everywhere. */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const below = (random: Random, bound: number): number => Math.floor(random() * bound);
const pick = (random: Random, from: readonly string[]): string => from[below(random, from.length)] ?? '';
/** Small numbers often, large ones seldom. */
const skewed = (random: Random, bound: number): number => Math.floor(random() * random() * random() * bound);
const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

interface Product {
  readonly sku: string;
  readonly category: string;
  readonly cents: number;
  readonly grams: number;
}

function catalogue(random: Random): Product[] {
  return Array.from({ length: 160 }, (_, index) => {
    const cents = 299 + 100 * skewed(random, 400);
    const category = CATEGORIES[index % CATEGORIES.length] ?? '';
    const grams = 50 * (1 + Math.floor(cents / 400) + below(random, 30));
    return { sku: `${category.slice(0, 2).toUpperCase()}-${100 + index}`, category, cents, grams };
  });
}

function quantityOf(random: Random): number {
  let quantity = 1;
  while (quantity < 9 && random() < 0.35) quantity += 1;
  return quantity;
}

function weightOf(random: Random, grams: number): string {
  const dice = random();
  if (dice < 0.02) return '';
  if (dice < 0.03) return 'n/a';
  return dice < 0.034 ? `${grams / 1000} kg` : String(grams / 1000);
}

function orderLine(index: number, random: Random, products: readonly Product[]): string {
  const product = products[skewed(random, products.length)];
  if (product === undefined) throw new Error('The catalogue is empty.');
  const minute = Math.floor((index * 365 * 1_440) / ORDER_ROWS) + below(random, 5);
  const orderedAt = FIRST_DAY + minute * 60_000;
  const quantity = quantityOf(random);
  const percent = random() < 0.7 ? 0 : 5 * (1 + skewed(random, 8));
  const total = Math.floor((product.cents * quantity * (100 - percent)) / 100) / 100;
  const express = random() < 0.15;
  const country = pick(random, COUNTRIES);
  const shipping = express
    ? 1 + below(random, 2)
    : 2 + below(random, 3) + skewed(random, 12) + (country === 'US' ? 4 : 0);
  const lost = random() < 0.003;
  const rating = Math.max(1, Math.min(5, 6 - below(random, 3) - Math.floor(shipping / 5)));
  return [
    1_000_001 + index,
    new Date(orderedAt).toISOString().replace(':00.000Z', 'Z'),
    `C-${10_000 + skewed(random, 9_000)}`,
    random() < 0.12 ? '' : 18 + below(random, 30) + below(random, 30),
    country,
    pick(random, CHANNELS),
    product.sku,
    product.category,
    quantity,
    product.cents / 100,
    percent === 0 ? '' : percent / 100,
    total,
    weightOf(random, product.grams * quantity),
    lost ? 'lost' : shipping,
    lost || random() < 0.4 ? '' : rating,
    express,
    lost ? 'unknown' : day(orderedAt + shipping * DAY_MS),
    random() < 0.02 ? `"${pick(random, NOTES).replaceAll('"', '""')}"` : '',
  ].join(',');
}

export function ordersCsv(): string {
  const random = randomFrom(20_250_101);
  const products = catalogue(random);
  const lines = Array.from({ length: ORDER_ROWS }, (_, index) => orderLine(index, random, products));
  return `${HEADER}\n${lines.join('\n')}\n`;
}

if (import.meta.main) {
  const packed = gzipSync(ordersCsv(), { level: 9 });
  writeFileSync(join(import.meta.dirname, 'orders.csv.gz'), packed);
  process.stdout.write(`orders.csv.gz: ${ORDER_ROWS} rows, ${packed.length} bytes\n`);
}
