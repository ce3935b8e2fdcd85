"""What is generated out of the product's own words, so that no metric's name is written twice."""
