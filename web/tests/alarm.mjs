/**
 * alarm.mjs: the numbers of `editor/alarm.ts`, as JSON.
 * alarm.mjs FILE: the alarms of lists of rows in FILE (JSON); `tests/web/test_alarm.py` finds them in Python.
 */
import { readFileSync } from 'node:fs';
import { imported } from './export/bundle.mjs';

const { ALARM, findAlarms } = await imported('../parts.ts');
const cases = process.argv[2] && JSON.parse(readFileSync(process.argv[2], 'utf8'));
console.log(JSON.stringify(cases ? cases.map(findAlarms) : ALARM));
