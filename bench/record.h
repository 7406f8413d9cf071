/* record.h: what the programs of the laboratory leave behind: figures as rows, which `pinch bench` collects, from which verdicts,
 * plots and the tables of docs/ are made. A figure that is only printed is lost; one that is recorded can be asked for again.
 *
 *   experiment,scene,method,measure,step,value
 *   e1,s1-20480,paper hybrid,all ms,,0.4087            one figure
 *   e1,s1-20480,paper hybrid,all ms,57,0.0301          one of a series: here by step, elsewhere by size, levels, ...
 *
 * A time in a row is in the unit that its measure names. A method whose answers were wrong has a row "wrong frames" above 0, and
 * whoever reads the rows must show it as wrong. */
#ifndef PN_BENCH_RECORD_H
#define PN_BENCH_RECORD_H

/* Takes "--rows FILE" out of the words of a program and appends to that file from then on. Without it nothing is recorded. Ends
 * the program with a message when the file cannot be written. */
void pn_recordArguments(int *count, char **words);

/* Recorded under this experiment and scene until the next call; both are copied. */
void pn_recordScene(const char *experiment, const char *scene);
/* One figure, and one of a series. What is not a finite number is left out. */
void pn_record(const char *method, const char *measure, double value);
void pn_recordStep(const char *method, const char *measure, double step, double value);

#endif
