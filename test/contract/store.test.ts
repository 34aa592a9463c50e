import { describe } from 'vitest';
import { engine, openReferee } from './referee.ts';
import { storeContract } from './store.ts';

describe(`the store on ${engine}`, () => storeContract(openReferee));
